// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/thread_sampler.h"

#include <algorithm>
#include <cerrno>
#include <span>

#include "inspect/demangle.h"
#include "inspect/images.h"

namespace weft::inline v0_1::detail::tools {

using inspect::Address;
using inspect::Registers;

ThreadSampler::ThreadSampler(Target& target, inspect::Unwinder& unwinder, std::chrono::nanoseconds period)
    : target_(target), unwinder_(unwinder), period_(period), copy_(kMostBytes) {}

std::optional<ThreadSampler::Sample> ThreadSampler::sample(inspect::FiberSampler& fibers,
                                                           inspect::Snapshot& snapshot, uint32_t worker) {
  Thread& thread = threadOf(snapshot.workers[worker].threadId);
  const std::optional<SystemCall> call = thread.call.read();
  if (!call && thread.samples.error() == 0) {
    return std::nullopt;
  }
  const uint32_t index = fibers.addCurrent(worker);
  if (index == inspect::kNone) {
    return std::nullopt;
  }
  if (call) {
    copyStack(snapshot.fibers[index], thread, call->registers.values[Registers::kStackPointer]);
    followCall(snapshot, snapshot.fibers[index], call->registers);
  }
  return Sample{index, call.has_value()};
}

void ThreadSampler::forEachComputed(inspect::Snapshot& snapshot, uint32_t worker,
                                    const std::function<void(uint32_t)>& take) {
  threadOf(snapshot.workers[worker].threadId)
      .samples.forEach([&](const Registers& registers, const inspect::StackCopy& stack) {
        const auto index = static_cast<uint32_t>(snapshot.fibers.size());
        inspect::Fiber& fiber = snapshot.fibers.emplace_back();
        fiber.worker = worker;
        fiber.state = inspect::Fiber::State::Running;
        follow(snapshot, fiber, registers, stack);
        fiber.isLastOfWorker = isInSearch(snapshot.framesOf(fiber));
        fiber.task = fiber.isLastOfWorker ? 0 : taskOn(snapshot.framesOf(fiber));
        take(index);
      });
}

void ThreadSampler::beginLook() {
  std::erase_if(threads_, [this](const auto& each) { return each.second.lastLook != numLooks_; });
  ++numLooks_;
}

ThreadSampler::Thread& ThreadSampler::threadOf(int threadId) {
  const auto [entry, isNew] = threads_.try_emplace(threadId, target_.processId(), threadId, period_);
  Thread& thread = entry->second;
  thread.lastLook = numLooks_;
  const int error = thread.samples.error();
  if (isNew && error != 0 && error != ESRCH) {  // it may just have ended
    error_ = error;
  }
  return thread;
}

// A worker looks for work on the stack of a fiber that waits, and does not compute for its task.
bool ThreadSampler::isInSearch(std::span<const Address> frames) {
  return std::ranges::any_of(frames, [this](Address frame) {
    return target_.images().place(frame - 1).function == "weft_fiber_call";
  });
}

// Returns: the code of the task whose calls these are; 0, if it is none's. A fiber's outermost calls are
// weft's, and then comes the task's.
Address ThreadSampler::taskOn(std::span<const Address> frames) {
  Address outermost = 0;
  for (const Address frame : frames) {
    const inspect::CodePlace place = target_.images().place(frame - 1);
    if (place.function == "weft_run_task") {
      return outermost;
    }
    if (!inspect::isOfWeft(place)) {
      outermost = frame - 1 - place.offset;
    }
  }
  return 0;
}

// Of a thread that waits in a call.
void ThreadSampler::copyStack(const inspect::Fiber& fiber, Thread& thread, Address stackPointer) {
  const bool isInside = stackPointer >= fiber.stackBase && stackPointer < fiber.stackTop;
  const Address top = isInside ? fiber.stackTop : thread.stackTop;
  copySize_ = top > stackPointer ? std::min<size_t>(kMostBytes, top - stackPointer) : 0;
  if (copySize_ == 0 || !target_.memory().read(stackPointer, copy_.data(), copySize_)) {
    copyPages(stackPointer);
    thread.stackTop = stackPointer + copySize_;
  }
}

// The top of a thread's own stack is not known at first.
void ThreadSampler::copyPages(Address begin) {
  constexpr size_t kPage = 4096;  // no processor has smaller ones
  size_t size = kPage - begin % kPage;
  for (copySize_ = 0; copySize_ + size <= kMostBytes; size = kPage) {
    if (!target_.memory().read(begin + copySize_, copy_.data() + copySize_, size)) {
      return;
    }
    copySize_ += size;
  }
}

// The system tells only the stack pointer and the pc. A function that finds its own frame by the frame
// pointer needs that too. It points below the address to which the function returns: places below addresses
// of code are tried until one leads to the outermost call.
void ThreadSampler::followCall(inspect::Snapshot& snapshot, inspect::Fiber& fiber,
                               const Registers& registers) {
  constexpr size_t kMostWords = 1024;
  constexpr int kMostTries = 64;
  const Address begin = registers.values[Registers::kStackPointer];
  const inspect::StackCopy stack{copy_.data(), copySize_, begin};
  if (follow(snapshot, fiber, registers, stack)) {
    return;
  }
  int numTries = 0;
  for (size_t i = 0; i < kMostWords && numTries < kMostTries; ++i) {
    const Address at = begin + i * sizeof(Address);
    Address words[2];
    if (!stack.read(at, words, sizeof words)) {
      break;
    }
    if (unwinder_.isInCode(words[1])) {
      ++numTries;
      Registers tried = registers;
      tried.set(Registers::kFramePointer, at);
      if (follow(snapshot, fiber, tried, stack)) {
        return;
      }
    }
  }
  follow(snapshot, fiber, registers, stack);
}

// Returns: whether the stack could be followed to its outermost call.
bool ThreadSampler::follow(inspect::Snapshot& snapshot, inspect::Fiber& fiber, Registers registers,
                           const inspect::StackCopy& stack) {
  auto& frames = snapshot.frames;
  fiber.firstFrame = static_cast<uint32_t>(frames.size());
  bool isWhole = false;
  for (bool goesOn = registers.pc() != 0; goesOn && frames.size() - fiber.firstFrame < kMostFrames;) {
    frames.push_back(registers.pc() + (registers.isInterrupted ? 1 : 0));
    isWhole = unwinder_.isOutermost(registers);
    goesOn = !isWhole && unwinder_.toCaller(registers, stack) && registers.pc() != 0;
  }
  fiber.numFrames = static_cast<uint32_t>(frames.size()) - fiber.firstFrame;
  fiber.hasMoreFrames = !isWhole;
  return isWhole;
}

}  // namespace weft::inline v0_1::detail::tools
