// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/profiler.h"

#include <algorithm>
#include <optional>

namespace weft::inline v0_1::detail::tools {
namespace {

// The fiber is one that was running when all fibers were looked at. Returns: nothing, if its task has ended.
std::optional<FoldedStacks::State> stateOf(const inspect::Fiber& fiber, bool isInCall) {
  switch (fiber.state) {
    case inspect::Fiber::State::Running:
      return !isInCall         ? FoldedStacks::State::Computes
             : fiber.task != 0 ? FoldedStacks::State::InCall
                               : FoldedStacks::State::OwnCall;
    case inspect::Fiber::State::Blocked:
      return FoldedStacks::State::Waits;
    case inspect::Fiber::State::Ready:
      return FoldedStacks::State::Ready;
    case inspect::Fiber::State::Idle:
      break;
  }
  return std::nullopt;
}

}  // namespace

Profiler::Profiler(Target& target, Seconds period)
    : target_(target),
      period_(period),
      names_(target.images(), &arena_),
      unwinder_(target.images(), &arena_),
      stacks_(names_),
      timer_(target.processId(), true),
      threads_(target, unwinder_, std::chrono::duration_cast<std::chrono::nanoseconds>(period)) {
  for (const inspect::Offsets& offsets : target.offsets()) {
    copies_.push_back(std::make_unique<Copy>(target, offsets, unwinder_));
  }
}

void Profiler::run(Seconds time) {
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(time);
  last_ = begin;
  (void)look();  // counts for nothing, but from now on the kernel samples the threads
  for (auto next = begin; last_ < end && !hasEnded_ && !hasBegunAnother_;) {
    next = std::min(end, std::max(next + interval(), Clock::now()));
    auto why = LookTimer::End::NewSize;
    while (why == LookTimer::End::NewSize) {
      why = timer_.waitUntil(next);
    }
    hasEnded_ = why == LookTimer::End::Process;
    if (!hasEnded_) {
      sample();
    }
    if (why == LookTimer::End::Interrupt) {
      break;
    }
  }
  duration_ = Clock::now() - begin;
}

// Not always the same, or samples would fall into step with what the program does at regular times.
Profiler::Clock::duration Profiler::interval() {
  return std::chrono::duration_cast<Clock::duration>(period_ * jitter_(random_));
}

// Returns: false, if what it has seen is not of the program with which it began.
bool Profiler::look() {
  threads_.beginLook();
  for (const std::unique_ptr<Copy>& copy : copies_) {
    copy->sampler.look();
  }
  if (!target_.isSameProgram()) {
    hasBegunAnother_ = target_.hasBegunAnother();
    return false;
  }
  for (const std::unique_ptr<Copy>& copy : copies_) {
    for (uint32_t worker = 0; worker < copy->snapshot.workers.size(); ++worker) {
      addComputed(*copy, worker);
    }
  }
  return true;
}

// What is seen now stands for the time since the last sample.
void Profiler::sample() {
  const auto now = Clock::now();
  const Seconds time = now - last_;
  last_ = now;
  if (!look()) {
    return;
  }
  ++numSamples_;
  for (const std::unique_ptr<Copy>& copy : copies_) {
    addFibers(*copy, time);
    for (uint32_t worker = 0; worker < copy->snapshot.workers.size(); ++worker) {
      if (copy->snapshot.workers[worker].state == inspect::Worker::State::Busy) {
        addThread(*copy, worker, time);
      }
    }
  }
}

void Profiler::addComputed(Copy& copy, uint32_t worker) {
  threads_.forEachComputed(copy.sampler, copy.snapshot, worker, [&](uint32_t fiber) {
    stacks_.add(FoldedStacks::State::Computes, copy.snapshot, copy.snapshot.fibers[fiber], period_);
  });
}

void Profiler::addFibers(Copy& copy, Seconds time) {
  for (uint32_t i = 0; i < copy.snapshot.fibers.size(); ++i) {
    const inspect::Fiber& fiber = copy.snapshot.fibers[i];
    const bool waits = fiber.state == inspect::Fiber::State::Blocked;
    // A bound thread's own code has no task, and what it waits for. Ready to look for work is neither.
    const bool isOfUser = fiber.task != 0 || fiber.what != inspect::kNone;
    if (waits || (fiber.state == inspect::Fiber::State::Ready && isOfUser)) {
      const auto state = waits ? FoldedStacks::State::Waits : FoldedStacks::State::Ready;
      stacks_.add(state, copy.snapshot, fiber, time * copy.sampler.weightOf(i));
    }
  }
}

void Profiler::addThread(Copy& copy, uint32_t worker, Seconds time) {
  const auto sample = threads_.sample(copy.sampler, copy.snapshot, worker);
  if (!sample) {
    return;
  }
  inspect::Fiber& fiber = copy.snapshot.fibers[sample->fiber];
  if (const auto state = stateOf(fiber, sample->isInCall)) {
    if (fiber.state != inspect::Fiber::State::Running) {
      skipCallsOfSearch(copy.snapshot, fiber);
    }
    stacks_.add(*state, copy.snapshot, fiber, time);
  }
}

// A worker looks for work on the stack of a fiber that waits. Calls of weft's are left out elsewhere.
void Profiler::skipCallsOfSearch(const inspect::Snapshot& snapshot, inspect::Fiber& fiber) {
  const auto frames = snapshot.framesOf(fiber);
  const auto own = std::ranges::find_if(frames, [this](auto pc) { return names_.isOfWeft(pc); });
  if (own != frames.end()) {
    const auto count = static_cast<uint32_t>(own - frames.begin());
    fiber.firstFrame += count;
    fiber.numFrames -= count;
  }
}

}  // namespace weft::inline v0_1::detail::tools
