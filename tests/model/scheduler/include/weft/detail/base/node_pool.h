// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

// What include/weft/detail/base/node_pool.h declares, by the model's allocator: see machine.cpp.
namespace weft::inline v0_1::detail {

enum class NodeSize : uint8_t { Line, TwoLines, None };

inline constexpr size_t kLine = 64;

constexpr NodeSize nodeSizeFor(size_t bytes) {
  return bytes <= kLine ? NodeSize::Line : bytes <= 2 * kLine ? NodeSize::TwoLines : NodeSize::None;
}

void* allocateNode(NodeSize size);
void freeNode(void* node, NodeSize size) noexcept;

}  // namespace weft::inline v0_1::detail
