// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

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

  void* handle() const { return request_.handle; }

 private:
  PollCore& source_;
  PollCore::Node request_;  // in the source's list in the place of `node`
};

template <class Handle>
class RequestCase : public PolledCase {
 protected:
  RequestCase(PollCore& source, Handle& handle) : PolledCase(source, &handle) {}
  using PolledCase::PolledCase;
  ~RequestCase() = default;

  Handle& subject() const { return *static_cast<Handle*>(handle()); }
};

}  // namespace weft::inline v0_1::detail
