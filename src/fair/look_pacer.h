// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/ticks.h"

namespace weft::inline v0_1::detail {

// Decides when a thread of a fair::TaskScheduler looks at the front queue and at the deadlines between two
// steps, and when it retires because its steps are short. All times are arguments.
class LookPacer {
 public:
  // Threads with shorter steps than this lose more by getting in each other's way than they gain.
  static constexpr uint64_t kFineStepNs = 150;
  // A thread retires after this many short steps in a row beside other threads.
  static constexpr uint32_t kFineStepsUntilRetired = 256;
  // A step that takes longer is followed by a look at the deadlines, if there are any.
  static constexpr uint64_t kLong = 2;  // microseconds
  // How long a thread runs steps between two looks if the steps take as long as those before. And how many
  // steps at most. A look costs 50 to 100 ns: after each 16 steps of 30 ns it was a tenth of their time.
  static constexpr uint64_t kLookAfterNs = 4'000;
  static constexpr uint64_t kLookAfterSteps = 64;
  // While there is work, a thread leaves the front queue to its producers for this long. An intake after each
  // step of 3 us took a tenth of the time of five threads.
  static constexpr std::chrono::nanoseconds kIntakePause{20'000};

  // The thread begins, or has slept: it looks before its next step. `numSteps`: those run so far.
  void restart(TimePoint now, uint64_t numSteps) {
    lookedAt_ = now;
    stepsAtLook_ = numSteps;
    lookNext();
  }
  void lookNext() { untilLook_ = 1; }

  // Called before each step. Returns: whether it is time to look.
  bool countStep() { return --untilLook_ == 0; }
  // Whether the step since the last call was a long one. `now`: in ticks().
  bool wasLong(uint64_t now) { return now - std::exchange(ticks_, now) >= long_; }

  // Called first at a look. Returns: whether the thread should retire.
  bool noteLook(TimePoint now, uint64_t numSteps, bool isAlone) {
    const uint64_t steps = std::max<uint64_t>(numSteps - stepsAtLook_, 1);
    const auto ns = static_cast<uint64_t>(std::max<int64_t>((now - lookedAt_).count(), 0)) / steps;
    lookedAt_ = now;
    stepsAtLook_ += steps;
    const bool isRetired = shouldRetire(ns, isAlone);  // with the old lookEvery_
    lookEvery_ = static_cast<uint32_t>(std::clamp<uint64_t>(kLookAfterNs / (ns + 1), 1, kLookAfterSteps));
    untilLook_ = lookEvery_;
    return isRetired;
  }
  // At a look: whether to take in what was posted. A deadline that is on its way may come before the pause is
  // over.
  bool isIntakesTurn(TimePoint now, bool isTimeOnItsWay) const {
    return now >= intakeAt_ || (lookEvery_ == 1 && isTimeOnItsWay);
  }
  void noteIntake(TimePoint now) { intakeAt_ = now + kIntakePause; }

 private:
  bool shouldRetire(uint64_t nsPerStep, bool isAlone) {
    if (nsPerStep >= kFineStepNs || isAlone) {
      fineSteps_ = 0;
      return false;
    }
    fineSteps_ += lookEvery_;
    const bool isEnough = fineSteps_ >= kFineStepsUntilRetired;
    fineSteps_ = isEnough ? 0 : fineSteps_;
    return isEnough;
  }

  const uint64_t long_ = ticksIn(kLong);
  uint32_t untilLook_ = 1;
  uint32_t lookEvery_ = 1;  // steps from the last look to the next
  uint32_t fineSteps_ = 0;  // in a row, beside others
  uint64_t ticks_ = 0;      // at the last wasLong()
  TimePoint lookedAt_{};
  uint64_t stepsAtLook_ = 0;
  TimePoint intakeAt_{};
};

}  // namespace weft::inline v0_1::detail
