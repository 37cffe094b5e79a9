// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "inspect/arena.h"
#include "inspect/fiber_sampler.h"
#include "inspect/image_names.h"
#include "inspect/offsets.h"
#include "inspect/snapshot.h"
#include "inspect/unwinder.h"
#include "tools/file_watch.h"
#include "tools/folded_stacks.h"
#include "tools/target.h"
#include "tools/terminal.h"
#include "tools/thread_sampler.h"

namespace weft::inline v0_1::detail::tools {

// Samples what the tasks of a process do, its fibers and its threads, and adds up the time.
class Profiler {
 public:
  using Seconds = std::chrono::duration<double>;

  // `target`: a process that runs, and outlives the profiler. `period`: between two samples.
  Profiler(Target& target, Seconds period);

  // Takes samples for so long, or until the process ends or begins another program, or this program is
  // interrupted.
  void run(Seconds time);

  const FoldedStacks& stacks() const { return stacks_; }
  Seconds duration() const { return duration_; }
  uint64_t numSamples() const { return numSamples_; }
  bool hasSeenFibers() const { return !stacks_.isEmpty(); }
  bool hasEnded() const { return hasEnded_; }  // the process
  // Returns: whether the process has begun another program, which has ended the samples.
  bool hasBegunAnother() const { return hasBegunAnother_; }
  // Returns: the errno value of why the system does not tell of code that computes; 0: it does.
  int error() const { return files_->threads.error(); }

  static Seconds processorTime();  // that this program has taken

 private:
  using Clock = std::chrono::steady_clock;

  // One of weft in the process.
  struct Copy {
    Copy(Target& target, const inspect::Offsets& offsets, inspect::Unwinder& unwinder)
        : sampler(target.memory(), offsets, unwinder, snapshot, {}) {
      snapshot.processId = target.processId();
    }
    inspect::Snapshot snapshot{std::pmr::new_delete_resource()};
    inspect::FiberSampler sampler;
  };

  // All that knows the files which the process has mapped.
  struct Files {
    Files(Target& target, Seconds period);
    inspect::Arena arena;
    inspect::ImageNames names;
    inspect::Unwinder unwinder;
    FileWatch watch;
    ThreadSampler threads;
    std::vector<std::unique_ptr<Copy>> copies;
  };

  Clock::duration interval();
  bool look();
  bool lookAnew();
  void sample();
  void findNewFiles();
  bool isUnknown(const inspect::Snapshot& snapshot, const inspect::Fiber& fiber);
  void add(FoldedStacks::State state, const inspect::Snapshot& snapshot, const inspect::Fiber& fiber,
           Seconds time);
  void addComputed(Copy& copy, uint32_t worker);
  void addFibers(Copy& copy, Seconds time);
  void addThread(Copy& copy, uint32_t worker, Seconds time);
  void skipCallsOfSearch(const inspect::Snapshot& snapshot, inspect::Fiber& fiber);

  Target& target_;
  const Seconds period_;
  std::optional<Files> files_;
  FoldedStacks stacks_;
  LookTimer timer_;
  std::minstd_rand random_;
  std::uniform_real_distribution<double> jitter_{0.5, 1.5};
  Clock::time_point last_;  // sample
  Seconds duration_{};
  uint64_t numSamples_ = 0;
  Seconds search_{};           // processor time, of looks for new files
  bool isAnyUnknown_ = false;  // of the last sample's addresses
  bool hasFileGone_ = false;   // between the last two looks
  bool hasEnded_ = false;
  bool hasBegunAnother_ = false;
};

}  // namespace weft::inline v0_1::detail::tools
