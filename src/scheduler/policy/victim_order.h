// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "os/topology.h"
#include "weft/memory.h"
#include "weft/thread.h"

namespace weft::inline v0_1::detail {

// In which order a worker looks at the others when it steals: in rings, the nearest first. Those of a ring
// are equally far. Without rings any order will do.
struct VictimOrder {
  explicit VictimOrder(Allocator* allocator) : victims(allocator), ringEnds(allocator) {}

  std::vector<uint16_t, StlAllocator<uint16_t>> victims;   // numbers of workers, ring after ring
  std::vector<uint16_t, StlAllocator<uint16_t>> ringEnds;  // the index in `victims` behind each ring
};

// Returns: for each of these threads the first processor that it may use. Nothing, if one of them is unbound,
// or may use more than one last-level cache: nobody knows where such a thread is.
std::vector<Processor> homesOf(std::span<const Thread::Affinity> affinities, const Topology& topology);

// Returns: the order for `worker`, which has each other worker once. No rings, if all are equally far.
VictimOrder victimOrder(size_t worker, std::span<const Processor> homes, const Topology& topology,
                        Allocator* allocator);

// Returns: the order for each worker, by the affinities of all; nothing, if none of them needs one. Reads
// /sys if the affinities differ. `root` is put before every path that is read.
std::vector<VictimOrder> victimOrders(std::span<const Thread::Affinity> affinities, const std::string& root,
                                      Allocator* allocator);

}  // namespace weft::inline v0_1::detail
