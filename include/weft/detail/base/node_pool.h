// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/export.h"

// The process-wide pool of small nodes: tasks and the shared state of waiting primitives live in them.
//
// Each thread keeps two magazines (linked lists of up to kMagazine free nodes) a size, and exchanges whole
// magazines with one depot under a spin lock, as in Bonwick and Adams, "Magazines and Vmem" (2001). A thread
// that only allocates and one that only frees therefore meet once in 64 nodes. The memory is carved from
// chunks that are never given back, so that a node may be freed by any thread at any time, at process exit
// included.
namespace weft::detail {

enum class NodeSize : uint8_t { Line, TwoLines, None };

inline constexpr size_t kLine = 64;

// The smallest node that holds `bytes`, or None where no node does.
constexpr NodeSize nodeSizeFor(size_t bytes) {
  return bytes <= kLine ? NodeSize::Line : bytes <= 2 * kLine ? NodeSize::TwoLines : NodeSize::None;
}

// Returns a node, aligned to a cache line; ends the program with a message where the system has no memory
// left. Neither suspends nor, in the steady state, calls malloc.
WEFT_EXPORT void* allocateNode(NodeSize size);

// Requires: `node` came from allocateNode(size), on any thread.
WEFT_EXPORT void freeNode(void* node, NodeSize size) noexcept;

// Chunks taken from the system so far: constant in the steady state.
WEFT_EXPORT size_t numNodeChunks() noexcept;

}  // namespace weft::detail
