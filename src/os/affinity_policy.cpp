// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/affinity_policy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "weft/debug.h"

namespace weft::inline v0_1 {
namespace {

using Policy = Thread::Affinity::Policy;

// Gives each thread all processors of a list, or one of them in turn.
class FromList final : public Policy {
 public:
  FromList(Thread::Affinity&& list, bool isOneEach) : list_(std::move(list)), isOneEach_(isOneEach) {}
  Thread::Affinity get(uint32_t threadId, Allocator* allocator) const override {
    if (!isOneEach_ || list_.count() == 0) {
      return {list_, allocator};
    }
    return {{list_[threadId % list_.count()]}, allocator};
  }

 private:
  const Thread::Affinity list_;
  const bool isOneEach_;
};

// Gives each thread the processors of one cache. A cache has one seat for each of its processors. Seats are
// taken in rounds, one of each cache that has any left, so that a cache of few processors gets few threads.
class Spread final : public Policy {
 public:
  Spread(const detail::Topology& topology, Allocator* allocator) : caches_(allocator), seats_(allocator) {
    const std::vector<Cache> caches = inTurn(topology);
    for (const Cache& cache : caches) {
      caches_.emplace_back(std::span<const Thread::Core>(cache.cores), allocator);
    }
    for (size_t round = 0; seats_.size() < topology.processors().size(); ++round) {
      for (size_t i = 0; i < caches.size(); ++i) {
        if (round < caches[i].cores.size()) {
          seats_.push_back(static_cast<uint16_t>(i));
        }
      }
    }
  }

  Thread::Affinity get(uint32_t threadId, Allocator* allocator) const override {
    return seats_.empty() ? Thread::Affinity(allocator)
                          : Thread::Affinity(caches_[seats_[threadId % seats_.size()]], allocator);
  }

 private:
  struct Cache {
    size_t rank = 0;  // among the caches of its node
    uint16_t node = 0;
    std::vector<Thread::Core> cores;
  };

  // Returns: the caches in the order in which threads take them, the nodes in turn.
  static std::vector<Cache> inTurn(const detail::Topology& topology) {
    std::vector<Cache> caches;
    std::map<uint16_t, size_t> positions;
    std::map<uint16_t, size_t> numInNode;
    for (const detail::Processor& processor : topology.processors()) {
      const auto [position, isNew] = positions.try_emplace(processor.cache, caches.size());
      if (isNew) {
        caches.push_back({numInNode[processor.node]++, processor.node, {}});
      }
      Thread::Core core;
      core.pthread.index = processor.index;
      caches[position->second].cores.push_back(core);
    }
    std::sort(caches.begin(), caches.end(), [](const Cache& a, const Cache& b) {
      return std::tie(a.rank, a.node) < std::tie(b.rank, b.node);
    });
    return caches;
  }

  std::vector<Thread::Affinity, StlAllocator<Thread::Affinity>> caches_;
  std::vector<uint16_t, StlAllocator<uint16_t>> seats_;  // the index of a cache for each thread
};

// Asks the policy of the group in which a thread is.
class Groups final : public Policy {
 public:
  Groups(const std::vector<Group>& groups, Allocator* allocator)
      : groups_(groups.begin(), groups.end(), allocator) {
    for (const Group& group : groups_) {
      WEFT_ASSERT(group.policy != nullptr,
                  "Thread::Affinity::Policy::groups(): a group has no policy. "
                  "Give it one, such as anyOf(Affinity::all()).");
      WEFT_ASSERT(group.numThreads >= 0, "Thread::Affinity::Policy::groups(): a group of %d threads.",
                  group.numThreads);
      numThreads_ += static_cast<uint32_t>(group.numThreads);
    }
  }

  Thread::Affinity get(uint32_t threadId, Allocator* allocator) const override {
    uint64_t index = numThreads_ == 0 ? 0 : threadId % numThreads_;
    for (const Group& group : groups_) {
      const auto count = static_cast<uint32_t>(group.numThreads);
      if (index < count) {
        return group.policy->get(static_cast<uint32_t>(index), allocator);
      }
      index -= count;
    }
    return Thread::Affinity(allocator);
  }

 private:
  const std::vector<Group, StlAllocator<Group>> groups_;
  uint64_t numThreads_ = 0;
};

}  // namespace

Thread::Affinity::Policy::~Policy() = default;

std::shared_ptr<Policy> Thread::Affinity::Policy::anyOf(Affinity&& affinity, Allocator* allocator) {
  return detail::assertAllocator(allocator, "Thread::Affinity::Policy::anyOf()")
      ->make_shared<FromList>(std::move(affinity), false);
}

std::shared_ptr<Policy> Thread::Affinity::Policy::oneOf(Affinity&& affinity, Allocator* allocator) {
  return detail::assertAllocator(allocator, "Thread::Affinity::Policy::oneOf()")
      ->make_shared<FromList>(std::move(affinity), true);
}

std::shared_ptr<Policy> Thread::Affinity::Policy::spread(const Affinity& affinity, Allocator* allocator) {
  detail::assertAllocator(allocator, "Thread::Affinity::Policy::spread()");
  return detail::spreadOver(detail::Topology("", affinity), allocator);
}

std::shared_ptr<Policy> Thread::Affinity::Policy::groups(const std::vector<Group>& groups,
                                                         Allocator* allocator) {
  return detail::assertAllocator(allocator, "Thread::Affinity::Policy::groups()")
      ->make_shared<Groups>(groups, allocator);
}

std::shared_ptr<Policy> detail::spreadOver(const Topology& topology, Allocator* allocator) {
  return allocator->make_shared<Spread>(topology, allocator);
}

}  // namespace weft::inline v0_1
