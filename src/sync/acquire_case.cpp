// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/channel/acquire_case.h"

#include "weft/detail/wait/semaphore_core.h"
#include "weft/semaphore.h"

namespace weft::inline v0_1::detail {

PermitCase::PermitCase(const Semaphore& semaphore)
    : semaphore_(&semaphore), core_(semaphore.state_.checked().core) {}

bool PermitCase::tryTake() { return core_.tryTake(); }

bool PermitCase::takeOrLink() { return core_.takeOrLink(node); }

void PermitCase::unlink() { core_.unlink(node); }

void PermitCase::keep() {
  kept_.emplace(*semaphore_);
  semaphore_ = &*kept_;
}

}  // namespace weft::inline v0_1::detail
