// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/base/node_pool.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include <weft/sanitizers.h>

#include "with_scheduler.h"

namespace weft::inline v0_1::detail {
namespace {

using tests::scaled;

static_assert(nodeSizeFor(1) == NodeSize::Line && nodeSizeFor(64) == NodeSize::Line);
static_assert(nodeSizeFor(65) == NodeSize::TwoLines && nodeSizeFor(128) == NodeSize::TwoLines);
static_assert(nodeSizeFor(129) == NodeSize::None);

constexpr NodeSize kSizes[] = {NodeSize::Line, NodeSize::TwoLines};

constexpr size_t bytesOf(NodeSize size) { return size == NodeSize::Line ? kLine : 2 * kLine; }

std::vector<void*> allocate(NodeSize size, int count) {
  std::vector<void*> nodes(static_cast<size_t>(count));
  for (void*& node : nodes) {
    node = allocateNode(size);
  }
  return nodes;
}

void freeAll(NodeSize size, const std::vector<void*>& nodes) {
  for (void* node : nodes) {
    freeNode(node, size);
  }
}

TEST(NodePoolTest, WhoNeedsManyNodesGetsThemInLargeChunks) {
  constexpr int kLargeChunks = 4, kNodesOfOne = 131'072, kSmallChunks = 8;
  const size_t chunks = numNodeChunks();
  const auto nodes = allocate(NodeSize::Line, kLargeChunks * kNodesOfOne);
  EXPECT_LE(numNodeChunks() - chunks, size_t{kSmallChunks + kLargeChunks + 1});
  freeAll(NodeSize::Line, nodes);
}

size_t addressSpace() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Where the address space is limited (RLIMIT_AS), that bounds the number of tasks in flight.
TEST(NodePoolTest, ManyNodesTakeLittleMoreAddressSpaceThanTheyNeed) {
  if (WEFT_ADDRESS_SANITIZER_ENABLED || WEFT_THREAD_SANITIZER_ENABLED) {
    GTEST_SKIP() << "a sanitizer takes address space of its own";
  }
  constexpr size_t kNodes = 1'048'576;
  std::vector<void*> nodes;
  nodes.reserve(4 * kNodes);
  // Until the chunks are large, and what earlier tests have left in the pool is used up.
  for (const size_t chunks = numNodeChunks(); numNodeChunks() == chunks || nodes.size() < 40'000;) {
    nodes.push_back(allocateNode(NodeSize::Line));
  }
  const size_t before = addressSpace();
  ASSERT_GT(before, 0u);
  const size_t end = nodes.size() + kNodes;
  while (nodes.size() < end) {
    nodes.push_back(allocateNode(NodeSize::Line));
  }
  EXPECT_LT(addressSpace() - before, kNodes * kLine * 3 / 2);
  freeAll(NodeSize::Line, nodes);
}

TEST(NodePoolTest, NodesAreAlignedAndDoNotOverlap) {
  for (NodeSize size : kSizes) {
    auto nodes = allocate(size, 1'000);
    std::sort(nodes.begin(), nodes.end());
    for (size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(nodes[i]) % kLine, 0u);
      if (i > 0) {
        EXPECT_GE(static_cast<char*>(nodes[i]) - static_cast<char*>(nodes[i - 1]),
                  static_cast<ptrdiff_t>(bytesOf(size)));
      }
      std::memset(nodes[i], static_cast<int>(i), bytesOf(size));
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_EQ(*static_cast<unsigned char*>(nodes[i]), i % 256);
      EXPECT_EQ(static_cast<unsigned char*>(nodes[i])[bytesOf(size) - 1], i % 256);
    }
    freeAll(size, nodes);
  }
}

TEST(NodePoolTest, FreedNodesAreUsedAgain) {
  for (NodeSize size : kSizes) {
    freeAll(size, allocate(size, 200));
    const size_t chunks = numNodeChunks();
    for (int i = 0; i < scaled(10'000, 500); ++i) {
      freeAll(size, allocate(size, 1 + i % 200));
    }
    EXPECT_EQ(numNodeChunks(), chunks);
  }
}

TEST(NodePoolTest, NodesThatOneThreadAllocatesAndAnotherFreesComeBack) {
  constexpr int kInFlight = 1'000;
  for (NodeSize size : kSizes) {
    size_t chunks = 0;
    for (int round = 0; round < scaled(300, 50); ++round) {
      const auto nodes = allocate(size, kInFlight);
      std::thread([&] { freeAll(size, nodes); }).join();
      if (round == 0) {
        chunks = numNodeChunks();
      }
    }
    EXPECT_EQ(numNodeChunks(), chunks);
  }
}

// A thread that frees a node or two, and never allocates one, leaves nothing behind either.
TEST(NodePoolTest, ThreadsThatEndLeaveNoNodesBehind) {
  constexpr int kThreads = scaled(3'000, 300);
  constexpr int kNodes = 63;
  for (NodeSize size : kSizes) {
    freeAll(size, allocate(size, 2 * kNodes));
    const size_t chunks = numNodeChunks();
    for (int i = 0; i < kThreads; ++i) {
      const auto nodes = allocate(size, kNodes);
      std::thread([&] { freeAll(size, nodes); }).join();
    }
    EXPECT_EQ(numNodeChunks(), chunks);
    for (int i = 0; i < kThreads; ++i) {
      std::vector<void*> nodes;
      std::thread([&] { nodes = allocate(size, 1); }).join();
      freeAll(size, nodes);
    }
    EXPECT_EQ(numNodeChunks(), chunks);
  }
}

// Allocates or frees when its thread ends.
struct AtThreadEnd {
  ~AtThreadEnd() {
    for (NodeSize size : kSizes) {
      const int k = static_cast<int>(size);
      if (*nodes[k] != nullptr) {
        freeNode(*nodes[k], size);
        *nodes[k] = nullptr;
      } else {
        *nodes[k] = allocateNode(size);
      }
    }
  }
  void** nodes[2] = {};
};

TEST(NodePoolTest, DestructorsOfThreadLocalObjectsMayAllocateOrFree) {
  size_t chunks = 0;
  const int rounds = scaled(3'000, 300);
  for (int i = 0; i < rounds; ++i) {
    void* nodes[2] = {};
    if (i % 3 == 0) {
      nodes[0] = allocateNode(NodeSize::Line);
      nodes[1] = allocateNode(NodeSize::TwoLines);
    }
    std::thread([&] {
      static thread_local AtThreadEnd atEnd;
      for (NodeSize size : kSizes) {
        atEnd.nodes[static_cast<int>(size)] = &nodes[static_cast<int>(size)];
        freeNode(allocateNode(size), size);  // registers the pool's destructor, which is to run first
      }
    }).join();
    if (nodes[0] != nullptr) {
      freeNode(nodes[0], NodeSize::Line);
      freeNode(nodes[1], NodeSize::TwoLines);
    }
    if (i == 0) {
      chunks = numNodeChunks();
    }
  }
  EXPECT_EQ(numNodeChunks(), chunks);
}

TEST(NodePoolTest, ManyThreadsAtOnceKeepTheirNodesApart) {
  constexpr int kThreads = 8;
  const int rounds = scaled(2'000, 200);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([=] {
      for (int round = 0; round < rounds; ++round) {
        const NodeSize size = kSizes[round % 2];
        const auto nodes = allocate(size, 1 + round % 150);
        for (void* node : nodes) {
          std::memset(node, t, bytesOf(size));
        }
        for (void* node : nodes) {
          ASSERT_EQ(static_cast<unsigned char*>(node)[bytesOf(size) - 1], t);
        }
        freeAll(size, nodes);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

#if WEFT_ADDRESS_SANITIZER_ENABLED
TEST(NodePoolDeathTest, TouchesOfAFreeNodeAreSeenByAddressSanitizer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (NodeSize size : kSizes) {
    for (size_t offset = 0; offset < bytesOf(size); offset += 40) {
      auto* node = static_cast<volatile char*>(allocateNode(size));
      freeNode(const_cast<char*>(node), size);
      EXPECT_DEATH((void)node[offset], "use-after-poison");
    }
  }
}
#endif

}  // namespace
}  // namespace weft::inline v0_1::detail
