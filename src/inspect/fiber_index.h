// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <utility>
#include <vector>

#include "inspect/snapshot.h"

namespace weft::inline v0_1::detail::inspect {

// Finds the fibers of a snapshot by addresses. Sorts them when it is asked first: most looks need one order,
// or none.
class FiberIndex {
 public:
  // No fiber may come to the snapshot afterwards.
  explicit FiberIndex(const Snapshot& snapshot)
      : snapshot_(snapshot),
        byScope_(snapshot.fibers.get_allocator().resource()),
        byStack_(snapshot.fibers.get_allocator().resource()) {}

  // Returns: the index of the fiber whose TaskScope lies at `scope`, or kNone. Other than for a main fiber,
  // that is also the address of its control block.
  uint32_t at(Address scope) {
    sort(byScope_, &Fiber::scope);
    const auto found = std::ranges::lower_bound(byScope_, Place(scope, 0));
    return found != byScope_.end() && found->first == scope ? found->second : kNone;
  }

  // Returns: the index of the fiber on whose stack `address` lies, or kNone.
  uint32_t onStack(Address address) {
    sort(byStack_, &Fiber::stackBase);
    auto after = std::ranges::upper_bound(byStack_, Place(address, kNone));
    if (after == byStack_.begin()) {
      return kNone;
    }
    const uint32_t index = std::prev(after)->second;
    const Fiber& fiber = snapshot_.fibers[index];
    return fiber.stackBase != 0 && address < fiber.stackTop ? index : kNone;
  }

 private:
  using Place = std::pair<Address, uint32_t>;

  void sort(std::pmr::vector<Place>& places, Address Fiber::* address) const {
    if (!places.empty()) {
      return;
    }
    places.reserve(snapshot_.fibers.size());
    for (uint32_t i = 0; i < snapshot_.fibers.size(); ++i) {
      places.emplace_back(snapshot_.fibers[i].*address, i);
    }
    std::ranges::sort(places);
  }

  const Snapshot& snapshot_;
  std::pmr::vector<Place> byScope_;
  std::pmr::vector<Place> byStack_;
};

}  // namespace weft::inline v0_1::detail::inspect
