// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "os/topology.h"
#include "weft/memory.h"
#include "weft/thread.h"

namespace weft::inline v0_1::detail {

// Thread::Affinity::Policy::spread() over the processors of `topology`.
std::shared_ptr<Thread::Affinity::Policy> spreadOver(const Topology& topology, Allocator* allocator);

}  // namespace weft::inline v0_1::detail
