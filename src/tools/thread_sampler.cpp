// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/thread_sampler.h"

#include <algorithm>
#include <cerrno>

namespace weft::inline v0_1::detail::tools {

using inspect::Address;
using inspect::Registers;

ThreadSampler::ThreadSampler(const Target& target, inspect::Unwinder& unwinder)
    : target_(target), unwinder_(unwinder), calls_(target.processId()), copy_(kMostBytes) {}

std::optional<ThreadSampler::Sample> ThreadSampler::sample(inspect::FiberSampler& fibers,
                                                           inspect::Snapshot& snapshot, uint32_t worker) {
  const int threadId = snapshot.workers[worker].threadId;
  uint32_t fiber = inspect::kNone;
  const std::optional<SystemCall> call = calls_.of(threadId);
  if (call) {
    fiber = fibers.addCurrent(worker);
    if (fiber != inspect::kNone) {
      copyStack(snapshot.fibers[fiber], threadId, call->registers.values[Registers::kStackPointer]);
    }
  }
  const bool isRead = fiber != inspect::kNone && unwind(snapshot, fiber, call->registers);
  if (!isRead && (!call || survivesStop(*call))) {
    fiber = stopAndRead(fibers, snapshot, worker);
  }
  return fiber != inspect::kNone ? std::optional(Sample{fiber, call.has_value()}) : std::nullopt;
}

// Returns: the index of the fiber. Without a stack, if the thread cannot be stopped.
uint32_t ThreadSampler::stopAndRead(inspect::FiberSampler& fibers, inspect::Snapshot& snapshot,
                                    uint32_t worker) {
  const int threadId = snapshot.workers[worker].threadId;
  uint32_t fiber = inspect::kNone;
  std::optional<Registers> registers;
  {
    const ThreadStopper::Stop stop = stopper_.stop(threadId);
    registers = stop.registers();
    isRefused_ = isRefused_ || stop.error() == EPERM;
    fiber = fibers.addCurrent(worker);
    if (registers && fiber != inspect::kNone) {
      copyStack(snapshot.fibers[fiber], threadId, registers->values[Registers::kStackPointer]);
    }
  }
  if (registers && fiber != inspect::kNone) {
    unwind(snapshot, fiber, *registers);
  }
  return fiber;
}

// Of a thread that stands still.
void ThreadSampler::copyStack(const inspect::Fiber& fiber, int threadId, Address stackPointer) {
  const bool isInside = stackPointer >= fiber.stackBase && stackPointer < fiber.stackTop;
  const Address top = isInside ? fiber.stackTop : tops_[threadId];
  copySize_ = top > stackPointer ? std::min<size_t>(kMostBytes, top - stackPointer) : 0;
  if (copySize_ == 0 || !target_.memory().read(stackPointer, copy_.data(), copySize_)) {
    copyPages(stackPointer);
    tops_[threadId] = stackPointer + copySize_;
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

// Returns: whether the stack could be followed to its outermost call.
bool ThreadSampler::unwind(inspect::Snapshot& snapshot, uint32_t index, Registers registers) {
  const inspect::StackCopy stack{copy_.data(), copySize_, registers.values[Registers::kStackPointer]};
  inspect::Fiber& fiber = snapshot.fibers[index];
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
