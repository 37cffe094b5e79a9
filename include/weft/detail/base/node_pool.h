// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "weft/detail/base/node_size.h"
#include "weft/export.h"
#include "weft/sanitizers.h"

// The process-wide pool of small nodes: tasks and the shared state of waiting primitives live in them.
//
// Each thread keeps two magazines (linked lists of up to kMagazine free nodes) for each size. It exchanges
// whole magazines with one depot under a spin lock, as in Bonwick and Adams, "Magazines and Vmem" (2001). So
// a thread that only allocates and a thread that only frees meet once in 64 nodes. The memory of nodes is
// never freed, so any thread may free a node at any time.
namespace weft::inline v0_1::detail {

struct FreeNode {
  FreeNode* next;
  FreeNode* later;         // mostly the node kAhead after this one; only prefetched
  FreeNode* nextMagazine;  // in the depot, in a magazine's first node
  uint32_t count;          // in the depot, in a magazine's first node
};

struct Magazine {
  FreeNode* head;
  uint32_t count;
};

// A thread's magazines. `loaded` is used; `spare` is empty or full. So a thread that allocates and frees in
// turn at the end of a magazine does not visit the depot each time.
struct NodeCache {
  static constexpr int kNumSizes = 2;
  static constexpr uint32_t kAhead = 8;  // a node is prefetched so many allocations before its own

  Magazine loaded[kNumSizes];
  Magazine spare[kNumSizes];
  FreeNode* lastFreed[kNumSizes][kAhead];
  // A free that makes `loaded` larger takes the slow path: a thread's first, into a full magazine, at its
  // end.
  uint32_t mostLoaded;
  bool registered;
  bool dead;  // the thread is ending: nodes go straight to the depot
};

extern WEFT_EXPORT constinit thread_local NodeCache nodeCache WEFT_TLS;

// The slow paths: the loaded magazine is empty, or larger than mostLoaded.
WEFT_EXPORT void* reloadAndAllocateNode(NodeSize size);
WEFT_EXPORT void unloadNodes(NodeSize size) noexcept;

#if WEFT_ADDRESS_SANITIZER_ENABLED
WEFT_EXPORT void* allocateNode(NodeSize size);
WEFT_EXPORT void freeNode(void* node, NodeSize size) noexcept;
#else
// Returns: a node, aligned to a cache line. Ends the program with a message if the system has no memory left.
// Does not suspend, and in the steady state does not call malloc.
[[gnu::always_inline]] inline void* allocateNode(NodeSize size) {
  Magazine& loaded = nodeCache.loaded[static_cast<int>(size)];
  FreeNode* node = loaded.head;
  if (node == nullptr) [[unlikely]] {
    return reloadAndAllocateNode(size);
  }
  loaded.head = node->next;
  --loaded.count;
  // The list threads through memory that may be cold.
  __builtin_prefetch(node->later, 1);
  return node;
}

// Requires: `memory` came from allocateNode(size), on any thread.
[[gnu::always_inline]] inline void freeNode(void* memory, NodeSize size) noexcept {
  NodeCache& cache = nodeCache;
  Magazine& loaded = cache.loaded[static_cast<int>(size)];
  auto* node = static_cast<FreeNode*>(memory);
  node->next = loaded.head;
  node->later =
      std::exchange(cache.lastFreed[static_cast<int>(size)][loaded.count % NodeCache::kAhead], node);
  loaded.head = node;
  if (++loaded.count > cache.mostLoaded) [[unlikely]] {
    unloadNodes(size);
  }
}
#endif

// Returns: how many chunks were taken from the system so far; constant in the steady state.
WEFT_EXPORT size_t numNodeChunks() noexcept;

}  // namespace weft::inline v0_1::detail
