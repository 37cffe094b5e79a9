// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/channel/cases.h"
#include "weft/detail/channel/select_case.h"
#include "weft/detail/future/handle.h"
#include "weft/detail/future/state.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// A case that waits until a future is ready.
class WEFT_EXPORT FutureCase : public OneSidedCase {
 public:
  bool tryTake() override;
  bool takeOrLink() override;
  void unlink() override;
  void keep() override {}

 protected:
  explicit FutureCase(const FutureHandle& future) : future_(future) {}
  FutureCase(Erase erase, const FutureCase& from) : OneSidedCase(erase, from), future_(from.future_) {}
  ~FutureCase() = default;

 private:
  const FutureHandle& future_;
  FutureCore* core_ = nullptr;              // what `future_` has while a select() waits
  FutureCore::Word::Room* room_ = nullptr;  // where `node` was linked
};

// F: a future, perhaps const. Handler: called with an F&, or without arguments.
template <class F, class Handler>
class ReadyCase final : public FutureCase {
 public:
  ReadyCase(F& future, Handler&& f) : FutureCase(future), future_(future), handler_(std::move(f)) {
    detail::assertCallable(handler_, "onReady()");
  }
  ReadyCase(Erase erase, ReadyCase&& from)
      : FutureCase(erase, from), future_(from.future_), handler_(std::move(from.handler_)) {}
  void run() {
    if constexpr (std::invocable<Handler&, F&>) {
      handler_(future_);
    } else {
      handler_();
    }
  }
  void runErased() { run(); }

 private:
  F& future_;
  Handler handler_;
};

}  // namespace weft::inline v0_1::detail
