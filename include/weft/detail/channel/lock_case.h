// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <mutex>

#include "weft/detail/base/deadline.h"
#include "weft/detail/channel/select_case.h"
#include "weft/export.h"
#include "weft/mutex.h"

namespace weft::inline v0_1::detail {

// A case that locks a mutex.
class WEFT_EXPORT LockCase : public ActiveCase {
 public:
  bool tryTake() override;
  bool takeOrLink() override;
  void unlink() override;
  void keep() override {}
  bool look(TimePoint& next) override;
  bool arrive() override;

 protected:
  explicit LockCase(mutex& locked) : mutex_(locked) {}
  LockCase(Erase erase, const LockCase& from) : ActiveCase(erase, from), mutex_(from.mutex_) {}
  ~LockCase() = default;

  std::unique_lock<mutex> subject() const { return std::unique_lock<mutex>(mutex_, std::adopt_lock); }

 private:
  bool claimOrUnlock();
  bool hold();

  mutex& mutex_;
  TimePoint began_, next_;  // of the wait, and of its next look
  bool isHeld_ = false;     // by a look
};

}  // namespace weft::inline v0_1::detail
