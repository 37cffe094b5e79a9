// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::inline v0_1::detail {

// The size of a node of the pool (node_pool.h).
enum class NodeSize : uint8_t { Line, TwoLines, None };

inline constexpr size_t kLine = 64;

// The smallest node that holds `bytes`, or None if no node does.
constexpr NodeSize nodeSizeFor(size_t bytes) {
  return bytes <= kLine ? NodeSize::Line : bytes <= 2 * kLine ? NodeSize::TwoLines : NodeSize::None;
}

}  // namespace weft::inline v0_1::detail
