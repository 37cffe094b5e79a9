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

void ThreadSampler::forEachComputed(inspect::FiberSampler& fibers, inspect::Snapshot& snapshot,
                                    uint32_t worker, const std::function<void(uint32_t)>& take) {
  threadOf(snapshot.workers[worker].threadId)
      .samples.forEach([&](const Registers& registers, const inspect::StackCopy& stack) {
        const auto index = static_cast<uint32_t>(snapshot.fibers.size());
        inspect::Fiber& fiber = snapshot.fibers.emplace_back();
        fiber.worker = worker;
        fiber.state = inspect::Fiber::State::Running;
        followComputed(fibers, snapshot, index, registers, stack);
        take(index);
      });
}

// A sample has the innermost part of the stack, and a stack may lead nowhere, as that of a signal handler.
void ThreadSampler::followComputed(inspect::FiberSampler& fibers, inspect::Snapshot& snapshot, uint32_t index,
                                   const Registers& registers, const inspect::StackCopy& stack) {
  Address runsNow = 0;
  if (!follow(snapshot, snapshot.fibers[index], registers, stack)) {
    const uint32_t current = fibers.addCurrent(snapshot.fibers[index].worker);
    if (current != inspect::kNone && snapshot.fibers[current].state == inspect::Fiber::State::Running) {
      runsNow = snapshot.fibers[current].task;
      if (copyOuter(stack, snapshot.fibers[current])) {
        follow(snapshot, snapshot.fibers[index], registers, {copy_.data(), copySize_, stack.begin});
      }
    }
  }
  inspect::Fiber& fiber = snapshot.fibers[index];
  fiber.isLastOfWorker = isInSearch();
  fiber.task = fiber.isLastOfWorker ? 0 : taskOfCalls();
  if (fiber.task == 0 && fiber.hasMoreFrames) {
    fiber.task = runsNow;
  }
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
bool ThreadSampler::isInSearch() {
  const auto end = calls_.begin() + static_cast<ptrdiff_t>(std::min(calls_.size(), kMostFrames));
  return std::any_of(calls_.begin(), end, [this](Address frame) {
    return target_.images().place(frame - 1).function == "weft_fiber_call";
  });
}

// Returns: the code of the task whose calls these are; 0, if it is none's. A fiber's outermost calls are
// weft's, and then comes the task's. Very many calls lie between, which are not looked at.
Address ThreadSampler::taskOfCalls() {
  Address outermost = 0;
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (i == kMostFrames && calls_.size() > 2 * kMostFrames) {
      i = calls_.size() - kMostFrames;
    }
    const inspect::CodePlace place = target_.images().place(calls_[i] - 1);
    if (place.function == "weft_run_task") {
      return outermost;
    }
    if (!inspect::isOfWeft(place)) {
      outermost = calls_[i] - 1 - place.offset;
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

// Copies the inner part of the fiber's stack, and behind it what lies outside of it now. The outer calls are
// those of then if the outermost bytes of the inner part are as they were. Returns: whether they are.
bool ThreadSampler::copyOuter(const inspect::StackCopy& inner, const inspect::Fiber& fiber) {
  constexpr size_t kCompared = 256;
  const Address end = inner.begin + inner.size;
  const size_t wanted = std::min<Address>(kMostBytes, fiber.stackTop - inner.begin);
  if (inner.begin < fiber.stackBase || inner.begin >= fiber.stackTop || inner.size < kCompared ||
      inner.size >= wanted) {
    return false;
  }
  char then[kCompared];
  (void)inner.read(end - kCompared, then, kCompared);
  (void)inner.read(inner.begin, copy_.data(), inner.size - kCompared);
  char* const behind = copy_.data() + inner.size - kCompared;
  copySize_ = wanted;
  return target_.memory().read(end - kCompared, behind, wanted - inner.size + kCompared) &&
         std::equal(then, then + kCompared, behind);
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
  calls_.clear();
  bool isWhole = false;
  for (bool goesOn = registers.pc() != 0; goesOn && calls_.size() < kMostCalls;) {
    calls_.push_back(registers.pc() + (registers.isInterrupted ? 1 : 0));
    isWhole = unwinder_.isOutermost(registers);
    goesOn = !isWhole && unwinder_.toCaller(registers, stack) && registers.pc() != 0;
  }
  const size_t numKept = std::min(calls_.size(), kMostFrames);
  fiber.firstFrame = static_cast<uint32_t>(snapshot.frames.size());
  fiber.numFrames = static_cast<uint32_t>(numKept);
  fiber.hasMoreFrames = !isWhole || numKept < calls_.size();
  snapshot.frames.insert(snapshot.frames.end(), calls_.begin(),
                         calls_.begin() + static_cast<ptrdiff_t>(numKept));
  return isWhole;
}

}  // namespace weft::inline v0_1::detail::tools
