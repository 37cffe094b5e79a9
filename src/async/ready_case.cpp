// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/future/ready_case.h"

#include "async/waiting_listener.h"
#include "weft/detail/future/task_state.h"
#include "weft/detail/wait/select_node.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

bool FutureCase::tryTake() {
  room_ = nullptr;
  core_ = &FutureAccess::checkedCore(future_, "onReady");
  if (core_->isReady()) {
    return true;
  }
  // Here, where nothing is linked: it may call what waits itself.
  FutureCore::freePutOff();
  return core_->isReady();
}

// A future that is ready stays so: the claim needs no lock.
bool FutureCase::takeOrLink() {
  room_ = core_->enterRoom();
  WaitingListener listener(node);
  return (room_ == nullptr || !room_->add(listener)) && claim(node);
}

void FutureCase::unlink() {
  if (room_ != nullptr) {
    (void)detail::unlinkIfLinked(node, room_->lock, room_->list.waiters);
  }
}

}  // namespace weft::inline v0_1::detail
