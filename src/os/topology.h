// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/memory.h"
#include "weft/thread.h"

namespace weft::inline v0_1::detail {

// A logical processor, and what it shares with others. A core and a cache are called by the lowest of the
// processors that share them.
struct Processor {
  uint16_t index = 0;        // the system's number
  uint16_t core = 0;         // SMT siblings share it
  uint16_t cache = 0;        // the last level of caches within a node
  uint16_t node = 0;         // the system's number of its NUMA node
  bool isEfficient = false;  // an efficiency core, beside performance cores
};

// The shape of the machine, as /sys tells it. What it does not tell counts as equal: one node, one cache for
// each package, one kind of core, one processor for each core.
class Topology {
 public:
  // Distances. Those between nodes are larger: firmware gives them (its table is called SLIT), 10 being near.
  static constexpr uint32_t kItself = 0;
  static constexpr uint32_t kSameCore = 1;
  static constexpr uint32_t kSameCache = 2;
  static constexpr uint32_t kSameNode = 3;
  static constexpr uint32_t kOtherNode = 20;  // where firmware gives none

  // Reads it for the processors of `usable`. `root` is put before every path that is read.
  Topology(const std::string& root, const Thread::Affinity& usable);

  // In ascending order.
  const std::vector<Processor>& processors() const { return processors_; }

  // Returns: how far a task moves between two of these processors.
  uint32_t distance(const Processor& a, const Processor& b) const;

 private:
  void readNodes(const std::string& folder);
  void readDistances(const std::string& folder, const std::vector<uint16_t>& online);
  void readShared(const std::string& folder);
  void readKinds(const std::string& devices);
  uint32_t fromNode(uint16_t from, uint16_t to) const;

  std::vector<Processor> processors_;
  std::vector<uint16_t> nodes_;     // those of the processors, ascending
  std::vector<uint8_t> distances_;  // from node to node, a row for each; 0 for unknown
};

// Returns: the processors that are no efficiency cores.
Thread::Affinity performanceCores(const Topology& topology, Allocator* allocator);

}  // namespace weft::inline v0_1::detail
