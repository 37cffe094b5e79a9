// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "weft/detail/channel/select_case.h"
#include "weft/export.h"
#include "weft/semaphore.h"

namespace weft::inline v0_1::detail {

// A case that takes a permit.
class WEFT_EXPORT PermitCase : public OneSidedCase {
 public:
  bool tryTake() override;
  bool takeOrLink() override;
  void unlink() override;
  void keep() override;

 protected:
  // Ends the program with a message if `semaphore` was moved from.
  explicit PermitCase(const Semaphore& semaphore);
  PermitCase(Erase erase, const PermitCase& from)
      : OneSidedCase(erase, from), semaphore_(from.semaphore_), core_(from.core_) {}
  ~PermitCase() = default;

  Semaphore::Permit subject() const { return Semaphore::Permit::adopt(*semaphore_); }

 private:
  const Semaphore* semaphore_;
  SemaphoreCore<>& core_;
  std::optional<Semaphore> kept_;
};

}  // namespace weft::inline v0_1::detail
