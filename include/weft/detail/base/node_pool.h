// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/export.h"

// The process-wide pool of small nodes: tasks and the shared state of waiting primitives live in them.
//
// Each thread keeps two magazines (linked lists of up to kMagazine free nodes) a size. It exchanges whole
// magazines with one depot under a spin lock, as in Bonwick and Adams, "Magazines and Vmem" (2001). So a
// thread that only allocates and a thread that only frees meet once in 64 nodes. The memory is carved from
// chunks that are never given back, so that any thread may free a node at any time, also at process exit.
namespace weft::inline v0_1::detail {

enum class NodeSize : uint8_t { Line, TwoLines, None };

inline constexpr size_t kLine = 64;

// The smallest node that holds `bytes`, or None where no node does.
constexpr NodeSize nodeSizeFor(size_t bytes) {
  return bytes <= kLine ? NodeSize::Line : bytes <= 2 * kLine ? NodeSize::TwoLines : NodeSize::None;
}

// Ends the program with a message where the system has no memory left. Neither suspends nor, in the steady
// state, calls malloc.
// Returns: a node, aligned to a cache line.
WEFT_EXPORT void* allocateNode(NodeSize size);

// Requires: `node` came from allocateNode(size), on any thread.
WEFT_EXPORT void freeNode(void* node, NodeSize size) noexcept;

// Returns: how many chunks were taken from the system so far. This is constant in the steady state.
WEFT_EXPORT size_t numNodeChunks() noexcept;

}  // namespace weft::inline v0_1::detail
