// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/channel/cases.h"
#include "weft/detail/channel/select_case.h"
#include "weft/detail/wait/poll_core.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// A case that waits until a request of a poll source is done.
class WEFT_EXPORT PolledCase : public OneSidedCase {
 public:
  bool tryTake() override;
  bool takeOrLink() override;
  void unlink() override;
  void keep() override {}

 protected:
  PolledCase(PollCore& source, void* handle) : source_(source) { request_.handle = handle; }
  PolledCase(Erase erase, const PolledCase& from) : OneSidedCase(erase, from), source_(from.source_) {
    request_.handle = from.request_.handle;
  }
  ~PolledCase() = default;

 private:
  PollCore& source_;
  PollCore::Node request_;  // in the source's list in the place of `node`
};

// Handler: called with a Handle&, or without arguments.
template <class Handle, class Handler>
class RequestCase final : public PolledCase {
 public:
  RequestCase(PollCore& source, Handle& handle, Handler&& f)
      : PolledCase(source, &handle), handle_(handle), handler_(std::move(f)) {
    detail::assertCallable(handler_, "onDone()");
  }
  RequestCase(Erase erase, RequestCase&& from)
      : PolledCase(erase, from), handle_(from.handle_), handler_(std::move(from.handler_)) {}
  void run() {
    if constexpr (std::invocable<Handler&, Handle&>) {
      handler_(handle_);
    } else {
      handler_();
    }
  }
  void runErased() { run(); }

 private:
  Handle& handle_;
  Handler handler_;
};

}  // namespace weft::inline v0_1::detail
