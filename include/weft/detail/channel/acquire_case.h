// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/channel/cases.h"
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

  const Semaphore& semaphore() const { return *semaphore_; }

 private:
  const Semaphore* semaphore_;
  SemaphoreCore<>& core_;
  std::optional<Semaphore> kept_;
};

// Handler: called without arguments, or with a Semaphore::Permit.
template <class Handler>
class AcquireCase final : public PermitCase {
 public:
  AcquireCase(const Semaphore& semaphore, Handler&& f) : PermitCase(semaphore), handler_(std::move(f)) {
    detail::assertCallable(handler_, "onAcquire()");
  }
  AcquireCase(Erase erase, AcquireCase&& from)
      : PermitCase(erase, from), handler_(std::move(from.handler_)) {}
  void run() {
    if constexpr (std::invocable<Handler&, Semaphore::Permit>) {
      handler_(Semaphore::Permit::adopt(semaphore()));
    } else {
      handler_();
    }
  }
  void runErased() { run(); }

 private:
  Handler handler_;
};

}  // namespace weft::inline v0_1::detail
