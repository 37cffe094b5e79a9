// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/folded_stacks.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "inspect/phrases.h"
#include "inspect/text.h"
#include "tools/output.h"

namespace weft::inline v0_1::detail::tools {
namespace {

std::string functionAt(inspect::Names& names, inspect::Address pc) {
  std::string name = textOf([&](inspect::Text& out) { names.writeFunctionAt(out, pc); });
  std::ranges::replace(name, ';', ',');
  return name;
}

}  // namespace

const char* FoldedStacks::nameOf(State state) {
  switch (state) {
    case State::Computes:
      return "computes";
    case State::InCall:
      return "blocks its thread";
    case State::OwnCall:
      return "outside of tasks, in a call";
    case State::Ready:
      return "ready";
    case State::Waits:
      break;
  }
  return "waits";
}

void FoldedStacks::add(State state, const inspect::Snapshot& snapshot, const inspect::Fiber& fiber,
                       std::chrono::duration<double> time) {
  Stack stack;
  stack.state = state;
  stack.task = fiber.task;
  stack.isCut = fiber.hasMoreFrames;
  inspect::Text none([](void*, const char*, size_t) {}, nullptr);
  const std::span<const inspect::Address> frames =
      inspect::Phrases(none, snapshot, *names_).framesOfInterest(fiber);
  // A stack with weft's calls alone was read while its fiber went on.
  if (!std::ranges::all_of(frames, [this](inspect::Address frame) { return names_->isOfWeft(frame); })) {
    stack.frames.assign(frames.begin(), frames.end());
  }
  if (fiber.what != inspect::kNone && (state == State::Waits || state == State::Ready)) {
    // It says more than the function of weft's in which the fiber waits, as of which much is inlined.
    stack.what = snapshot.names[fiber.what];
    if (!stack.frames.empty() && names_->isOfWeft(stack.frames.front())) {
      stack.frames.erase(stack.frames.begin());
    }
  }
  if (fiber.task == 0) {
    // Without numbers: threads of the same calls are one, and profiles of several runs can be compared.
    const inspect::Worker& worker = snapshot.workers[fiber.worker];
    stack.thread = worker.id >= 0                          ? "worker"
                   : worker.threadId == snapshot.processId ? "main thread"
                                                           : "bound threads";
    const bool isOfWorker = worker.id >= 0 && !fiber.hasMoreFrames;  // or else it may be a task's
    if (state == State::Computes && (isOfWorker || fiber.isLastOfWorker)) {
      stack.what = "looks for what to run";
      stack.frames.clear();
    }
  }
  stacks_[std::move(stack)] += time;
  totals_[static_cast<int>(state)] += time;
}

std::string FoldedStacks::nameOf(const Stack& stack) const {
  const std::string code = stack.task != 0 ? functionAt(*names_, stack.task + 1) : stack.thread;
  std::string name = nameOf(stack.state);
  name += ';' + code;
  if (stack.isCut) {
    name += ";...";
  }
  // The outermost call may be that of the task's code. A function that calls itself is told once.
  std::string last = code;
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
    std::string function = functionAt(*names_, *frame);
    if (function != last) {
      name += ';' + function;
      last = std::move(function);
    }
  }
  if (!stack.what.empty()) {
    name += ';' + stack.what;
  }
  return name;
}

// Calls at several places of a function are one line.
void FoldedStacks::addLines(Lines& lines) const {
  for (const auto& [stack, time] : stacks_) {
    lines[nameOf(stack)] += time;
  }
}

void FoldedStacks::setNames(inspect::Names* names) {
  addLines(lines_);
  stacks_.clear();
  names_ = names;
}

std::string FoldedStacks::text() const {
  Lines lines = lines_;
  addLines(lines);
  std::string text;
  for (const auto& [name, time] : lines) {
    text += name + ' ' + std::to_string(std::llround(time.count() * 1e6)) + '\n';
  }
  return text;
}

}  // namespace weft::inline v0_1::detail::tools
