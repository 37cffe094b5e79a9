// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/profiler.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <utility>

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

Profiler::Files::Files(Target& target, Seconds period)
    : names(target.images(), &arena),
      unwinder(target.images(), &arena),
      watch(target.memory(), target.images().all()),
      threads(target, unwinder, std::chrono::duration_cast<std::chrono::nanoseconds>(period)) {
  for (const inspect::Offsets& offsets : target.offsets()) {
    copies.push_back(std::make_unique<Copy>(target, offsets, unwinder));
  }
}

Profiler::Profiler(Target& target, Seconds period)
    : target_(target),
      period_(period),
      files_(std::in_place, target, period),
      stacks_(files_->names),
      timer_(target.processId(), true) {}

Profiler::Seconds Profiler::processorTime() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return Seconds(seconds(use.ru_utime) + seconds(use.ru_stime));
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

// Returns: false, if what it has seen is not of the program with which it began, or of its files. What was
// computed since the last look is counted in the latter case too, as far as its code lies in files that are
// still there.
bool Profiler::look() {
  hasFileGone_ = false;
  files_->threads.beginLook();
  for (const std::unique_ptr<Copy>& copy : files_->copies) {
    copy->sampler.look();
  }
  if (!target_.isSameProgram()) {
    hasBegunAnother_ = target_.hasBegunAnother();
    return false;
  }
  hasFileGone_ = !files_->watch.look();
  for (const std::unique_ptr<Copy>& copy : files_->copies) {
    for (uint32_t worker = 0; worker < copy->snapshot.workers.size(); ++worker) {
      addComputed(*copy, worker);
    }
  }
  return !hasFileGone_;
}

// Returns: what look() does, with the files that the process has mapped now. What was counted has its names
// of before.
bool Profiler::lookAnew() {
  stacks_.setNames(nullptr);
  files_.reset();
  target_.readFilesAnew();
  files_.emplace(target_, period_);
  stacks_.setNames(&files_->names);
  return look();
}

// The list of all mappings is long where there are very many fibers, and code that a program makes while it
// runs lies in no file for good. So looking for new files takes at most a tenth of the processor time.
void Profiler::findNewFiles() {
  const Seconds begin = processorTime();
  if (begin > 10 * search_) {
    const bool hasNew = target_.hasNewFiles();
    search_ += processorTime() - begin;
    if (hasNew) {
      (void)lookAnew();  // counts for nothing, but from now on the kernel samples the threads
    }
  }
}

// Returns: whether the fiber's task, or the call at which its stack could not be followed, lies in no file.
bool Profiler::isUnknown(const inspect::Snapshot& snapshot, const inspect::Fiber& fiber) {
  const auto frames = snapshot.framesOf(fiber);
  inspect::Images& images = target_.images();
  return (fiber.task != 0 && images.find(fiber.task) == nullptr) ||
         (!frames.empty() && images.find(frames.back() - 1) == nullptr);
}

void Profiler::add(FoldedStacks::State state, const inspect::Snapshot& snapshot, const inspect::Fiber& fiber,
                   Seconds time) {
  stacks_.add(state, snapshot, fiber, time);
  isAnyUnknown_ = isAnyUnknown_ || isUnknown(snapshot, fiber);
}

// What is seen now stands for the time since the last sample.
void Profiler::sample() {
  const auto now = Clock::now();
  const Seconds time = now - last_;
  last_ = now;
  isAnyUnknown_ = false;
  if (!look() && !(hasFileGone_ && lookAnew())) {
    return;
  }
  ++numSamples_;
  for (const std::unique_ptr<Copy>& copy : files_->copies) {
    addFibers(*copy, time);
    for (uint32_t worker = 0; worker < copy->snapshot.workers.size(); ++worker) {
      if (copy->snapshot.workers[worker].state == inspect::Worker::State::Busy) {
        addThread(*copy, worker, time);
      }
    }
  }
  if (isAnyUnknown_) {
    findNewFiles();
  }
}

void Profiler::addComputed(Copy& copy, uint32_t worker) {
  files_->threads.forEachComputed(copy.sampler, copy.snapshot, worker, [&](uint32_t index) {
    const inspect::Fiber& fiber = copy.snapshot.fibers[index];
    const auto wasGone = [this](inspect::Address code) { return files_->watch.wasGone(code); };
    if (!wasGone(fiber.task) && std::ranges::none_of(copy.snapshot.framesOf(fiber), wasGone)) {
      add(FoldedStacks::State::Computes, copy.snapshot, fiber, period_);
    }
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
      add(state, copy.snapshot, fiber, time * copy.sampler.weightOf(i));
    }
  }
}

void Profiler::addThread(Copy& copy, uint32_t worker, Seconds time) {
  const auto sample = files_->threads.sample(copy.sampler, copy.snapshot, worker);
  if (!sample) {
    return;
  }
  inspect::Fiber& fiber = copy.snapshot.fibers[sample->fiber];
  if (const auto state = stateOf(fiber, sample->isInCall)) {
    if (fiber.state != inspect::Fiber::State::Running) {
      skipCallsOfSearch(copy.snapshot, fiber);
    }
    add(*state, copy.snapshot, fiber, time);
  }
}

// A worker looks for work on the stack of a fiber that waits. Calls of weft's are left out elsewhere.
void Profiler::skipCallsOfSearch(const inspect::Snapshot& snapshot, inspect::Fiber& fiber) {
  const auto frames = snapshot.framesOf(fiber);
  const auto own = std::ranges::find_if(frames, [this](auto pc) { return files_->names.isOfWeft(pc); });
  if (own != frames.end()) {
    const auto count = static_cast<uint32_t>(own - frames.begin());
    fiber.firstFrame += count;
    fiber.numFrames -= count;
  }
}

}  // namespace weft::inline v0_1::detail::tools
