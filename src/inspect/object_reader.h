// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "inspect/memory.h"
#include "inspect/offsets.h"
#include "inspect/snapshot.h"

namespace weft::inline v0_1::detail::inspect {

// Reads what the objects hold that fibers wait for. It reads few words of each, without their locks.
class ObjectReader {
 public:
  ObjectReader(const Memory& memory, const Offsets& offsets, Snapshot& snapshot);

  // Sets the ObjectState of those of the fibers that wait for an object of a known kind. An object may be
  // gone by now: the caller looks whether the fiber has waited for it all the time, and else forgets it.
  void read(std::span<const uint32_t> fibers);

 private:
  struct Kind;
  static constexpr size_t kMostWords = 3;
  struct Words {
    uint64_t value[kMostWords] = {};
    size_t count = 0;    // of those that are wanted
    bool isRead = true;  // all of them
  };
  static const Kind kKinds[];

  const Kind* kindOf(const Fiber& fiber) const;
  ObjectState describe(const Kind& kind, const Words& words) const;

  const Memory& memory_;
  const Offsets& offsets_;
  Snapshot& snapshot_;
  std::pmr::vector<Words> words_;
  std::pmr::vector<Memory::Piece> pieces_;
  std::pmr::vector<uint32_t> objects_;  // for each fiber: the index in words_ of its object, or kNone
};

}  // namespace weft::inline v0_1::detail::inspect
