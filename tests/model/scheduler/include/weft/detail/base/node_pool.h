// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/node_size.h"

// What include/weft/detail/base/node_pool.h declares, by the model's allocator: see machine.cpp.
namespace weft::inline v0_1::detail {

void* allocateNode(NodeSize size);
void freeNode(void* node, NodeSize size) noexcept;

}  // namespace weft::inline v0_1::detail
