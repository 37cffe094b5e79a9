// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/channel/select_case.h"
#include "weft/export.h"
#include "weft/fair/coro.h"

namespace weft::inline v0_1::detail {

// A case that waits until the body of a task has ended.
class WEFT_EXPORT CoroCase : public OneSidedCase {
 public:
  bool tryTake() override;
  bool takeOrLink() override;
  void unlink() override;
  void keep() override {}

 protected:
  explicit CoroCase(fair::CoroTask& task) : task_(task) {}
  CoroCase(Erase erase, const CoroCase& from) : OneSidedCase(erase, from), task_(from.task_) {}
  ~CoroCase() = default;

  fair::CoroTask& subject() const { return task_; }

 private:
  fair::CoroTask& task_;
};

}  // namespace weft::inline v0_1::detail
