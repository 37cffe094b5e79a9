// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/base/node_pool.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "os/keep_loaded.h"
#include "os/thread_end.h"
#include "weft/debug.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/sanitizers.h"

#if WEFT_ADDRESS_SANITIZER_ENABLED
#include <sanitizer/asan_interface.h>
#endif

namespace weft::inline v0_1::detail {
namespace {

constexpr uint32_t kMagazine = 64;  // nodes
constexpr uint32_t kAhead = NodeCache::kAhead;
constexpr int kNumSizes = NodeCache::kNumSizes;
constexpr size_t kSmallChunk = size_t{256} * 1024;
constexpr size_t kHugePage = size_t{2} * 1024 * 1024;
constexpr size_t kLargeChunk = 4 * kHugePage;
constexpr size_t kNumSmallChunks = 8;  // of one node size; further ones are large

// The memory that all threads share for one node size. `lock` guards the rest.
struct Depot {
  SpinLock lock;
  FreeNode* magazines;  // full ones, and what ending threads leave
  // The uncarved rest of the newest chunk.
  char* fresh;
  char* freshEnd;
  // The newest. Each chunk has the address of the one before it at its end.
  char* chunks;
  size_t numChunks;
};

constinit Depot depots[kNumSizes]{};
constinit std::atomic<size_t> numChunks{0};

constexpr size_t bytesOf(int size) { return kLine << size; }

// Only the pool may touch a free node's memory; it makes its own links accessible to itself.
void poison([[maybe_unused]] void* node, [[maybe_unused]] size_t bytes) noexcept {
  WEFT_ADDRESS_SANITIZER_ONLY(__asan_poison_memory_region(node, bytes));
}

void unpoison([[maybe_unused]] void* node, [[maybe_unused]] size_t bytes) noexcept {
  WEFT_ADDRESS_SANITIZER_ONLY(__asan_unpoison_memory_region(node, bytes));
}

class OpenNode {
 public:
  explicit OpenNode(FreeNode* node) noexcept : node_(node) { unpoison(node_, sizeof(FreeNode)); }
  ~OpenNode() { poison(node_, sizeof(FreeNode)); }
  OpenNode(const OpenNode&) = delete;
  OpenNode& operator=(const OpenNode&) = delete;
  FreeNode* operator->() const noexcept { return node_; }

 private:
  FreeNode* node_;
};

void giveToDepot(Depot& depot, Magazine& magazine) noexcept {
  if (magazine.head == nullptr) {
    return;
  }
  std::scoped_lock guard(depot.lock);
  OpenNode head(magazine.head);
  head->count = magazine.count;
  head->nextMagazine = depot.magazines;
  depot.magazines = magazine.head;
  magazine = {};
}

void flush(void*) {
  nodeCache.dead = true;
  nodeCache.mostLoaded = 0;
  for (int size = 0; size < kNumSizes; ++size) {
    giveToDepot(depots[size], nodeCache.loaded[size]);
    giveToDepot(depots[size], nodeCache.spare[size]);
  }
}

void registerThread() {
  if (!nodeCache.registered) {
    keepLoaded();
    atThreadEnd(&flush);
    nodeCache.registered = true;
    nodeCache.mostLoaded = kMagazine;
  }
}

// A program that has very many tasks in flight finds their nodes with fewer page walks and page faults where
// a huge page holds 32,768 of them, as far as the system has huge pages left. There are several in a chunk,
// since aligned_alloc() takes one more of the address space: where that is limited, chunks of one huge page
// would leave room for half as many tasks.
// Returns: null where the memory cannot be had.
char* allocateLargeChunk() {
  char* const chunk = static_cast<char*>(std::aligned_alloc(kHugePage, kLargeChunk));
  if (chunk != nullptr) {
    madvise(chunk, kLargeChunk, MADV_HUGEPAGE);
  }
  return chunk;
}

void refillFromSystem(Depot& depot) {
  size_t bytes = kLargeChunk;
  char* chunk = depot.numChunks >= kNumSmallChunks ? allocateLargeChunk() : nullptr;
  if (chunk == nullptr) {
    bytes = kSmallChunk;
    chunk = static_cast<char*>(std::aligned_alloc(kLine, kSmallChunk));
  }
  if (chunk == nullptr) {
    WEFT_FATAL("out of memory: no %zu bytes for task nodes. Bound the number of tasks in flight.",
               kSmallChunk);
  }
  depot.fresh = chunk;
  depot.freshEnd = chunk + bytes - 2 * kLine;
  // Keeps every chunk reachable for leak checkers, from the page that is carved first.
  ::new (depot.freshEnd) char*(depot.chunks);
  depot.chunks = chunk;
  ++depot.numChunks;
  // relaxed: a statistic.
  numChunks.fetch_add(1, std::memory_order_relaxed);
}

// Returns: a magazine from the depot, or one carved from fresh memory.
Magazine takeFromDepot(int size) {
  Depot& depot = depots[size];
  std::scoped_lock guard(depot.lock);
  if (depot.magazines != nullptr) {
    OpenNode head(depot.magazines);
    const Magazine magazine{depot.magazines, head->count};
    depot.magazines = head->nextMagazine;
    return magazine;
  }
  if (depot.fresh == depot.freshEnd) {
    refillFromSystem(depot);
  }
  Magazine magazine{};
  while (magazine.count < kMagazine && depot.fresh != depot.freshEnd) {
    depot.freshEnd -= bytesOf(size);
    auto* node = reinterpret_cast<FreeNode*>(depot.freshEnd);
    node->next = magazine.head;
    node->later = reinterpret_cast<FreeNode*>(depot.freshEnd + kAhead * bytesOf(size));
    poison(node, bytesOf(size));
    magazine.head = node;
    ++magazine.count;
  }
  return magazine;
}

void reload(int size) {
  registerThread();
  Magazine& loaded = nodeCache.loaded[size];
  Magazine& spare = nodeCache.spare[size];
  if (spare.head != nullptr) {
    loaded = spare;
    spare = {};
  } else {
    loaded = takeFromDepot(size);
    if (nodeCache.dead) {
      // Nothing will flush this thread's magazines any more, so keep only the node that is asked for.
      OpenNode first(loaded.head);
      Magazine rest{first->next, loaded.count - 1};
      first->next = nullptr;
      loaded.count = 1;
      giveToDepot(depots[size], rest);
    }
  }
}

void* takeLoaded(int size) noexcept {
  Magazine& loaded = nodeCache.loaded[size];
  FreeNode* node = loaded.head;
  unpoison(node, bytesOf(size));
  loaded.head = node->next;
  --loaded.count;
  return node;
}

}  // namespace

constinit thread_local NodeCache nodeCache{};

void* reloadAndAllocateNode(NodeSize nodeSize) {
  const int size = static_cast<int>(nodeSize);
  reload(size);
  return takeLoaded(size);
}

void unloadNodes(NodeSize nodeSize) noexcept {
  const int size = static_cast<int>(nodeSize);
  Magazine& loaded = nodeCache.loaded[size];
  if (nodeCache.dead) {
    giveToDepot(depots[size], loaded);
    return;
  }
  registerThread();
  if (loaded.count <= kMagazine) {
    return;
  }
  // The newest node stays, so that a thread that takes and frees one node in turn does not
  // come here each time.
  OpenNode newest(loaded.head);
  giveToDepot(depots[size], nodeCache.spare[size]);
  nodeCache.spare[size] = {newest->next, kMagazine};
  newest->next = nullptr;
  loaded.count = 1;
}

#if WEFT_ADDRESS_SANITIZER_ENABLED
void* allocateNode(NodeSize size) {
  return nodeCache.loaded[static_cast<int>(size)].head != nullptr ? takeLoaded(static_cast<int>(size))
                                                                  : reloadAndAllocateNode(size);
}

void freeNode(void* memory, NodeSize nodeSize) noexcept {
  const int size = static_cast<int>(nodeSize);
  Magazine& loaded = nodeCache.loaded[size];
  auto* node = static_cast<FreeNode*>(memory);
  node->next = loaded.head;
  node->later = nullptr;
  poison(node, bytesOf(size));
  loaded.head = node;
  if (++loaded.count > nodeCache.mostLoaded) {
    unloadNodes(nodeSize);
  }
}
#endif

// relaxed: a statistic.
size_t numNodeChunks() noexcept { return numChunks.load(std::memory_order_relaxed); }

}  // namespace weft::inline v0_1::detail
