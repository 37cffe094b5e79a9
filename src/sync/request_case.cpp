// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/channel/request_case.h"

#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

bool PolledCase::tryTake() { return source_.isDoneAtOnce(request_.handle); }

// A test that comes later claims it.
bool PolledCase::takeOrLink() {
  request_.owner = node.owner;
  request_.choice = node.choice;
  request_.index = node.index;
  source_.link(request_);
  return false;
}

void PolledCase::unlink() { (void)source_.withdraw(request_, currentWaiter()); }

}  // namespace weft::inline v0_1::detail
