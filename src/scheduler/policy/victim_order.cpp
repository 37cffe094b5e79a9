// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/victim_order.h"

#include <algorithm>
#include <map>

namespace weft::inline v0_1::detail {
namespace {

// Returns: whether two workers may be at different distances from a third one.
bool mayDiffer(std::span<const Thread::Affinity> affinities) {
  const auto isUnbound = [](const Thread::Affinity& affinity) { return affinity.count() == 0; };
  if (affinities.size() < 3 || std::any_of(affinities.begin(), affinities.end(), isUnbound)) {
    return false;
  }
  const Thread::Core first = affinities[0][0];
  return std::any_of(affinities.begin(), affinities.end(),
                     [&](const Thread::Affinity& affinity) { return !(affinity[0] == first); });
}

}  // namespace

std::vector<Processor> homesOf(std::span<const Thread::Affinity> affinities, const Topology& topology) {
  const std::vector<Processor>& all = topology.processors();
  const auto find = [&](Thread::Core core) {
    const auto isBefore = [](const Processor& a, uint16_t index) { return a.index < index; };
    const auto found = std::lower_bound(all.begin(), all.end(), core.pthread.index, isBefore);
    return found != all.end() && found->index == core.pthread.index ? &*found : nullptr;
  };
  std::vector<Processor> homes;
  for (const Thread::Affinity& affinity : affinities) {
    const Processor* const home = affinity.count() > 0 ? find(affinity[0]) : nullptr;
    for (size_t i = 0; i < affinity.count(); ++i) {
      const Processor* const other = find(affinity[i]);
      if (home == nullptr || other == nullptr || other->cache != home->cache) {
        return {};
      }
    }
    if (home == nullptr) {
      return {};
    }
    homes.push_back(*home);
  }
  return homes;
}

VictimOrder victimOrder(size_t worker, std::span<const Processor> homes, const Topology& topology,
                        Allocator* allocator) {
  std::map<uint32_t, std::vector<uint16_t>> rings;  // by their distance
  for (size_t other = 0; other < homes.size(); ++other) {
    if (other != worker) {
      rings[topology.distance(homes[worker], homes[other])].push_back(static_cast<uint16_t>(other));
    }
  }
  VictimOrder order(allocator);
  if (rings.size() < 2) {
    return order;
  }
  order.victims.reserve(homes.size() - 1);
  order.ringEnds.reserve(rings.size());
  for (const auto& [distance, ring] : rings) {
    order.victims.insert(order.victims.end(), ring.begin(), ring.end());
    order.ringEnds.push_back(static_cast<uint16_t>(order.victims.size()));
  }
  return order;
}

std::vector<VictimOrder> victimOrders(std::span<const Thread::Affinity> affinities, const std::string& root,
                                      Allocator* allocator) {
  if (!mayDiffer(affinities)) {
    return {};
  }
  Thread::Affinity used(allocator);
  for (const Thread::Affinity& affinity : affinities) {
    used.add(affinity);
  }
  const Topology topology(root, used);
  const std::vector<Processor> homes = homesOf(affinities, topology);
  std::vector<VictimOrder> orders;
  for (size_t worker = 0; worker < homes.size(); ++worker) {
    orders.push_back(victimOrder(worker, homes, topology, allocator));
  }
  return orders;
}

}  // namespace weft::inline v0_1::detail
