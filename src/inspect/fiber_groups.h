// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <memory_resource>
#include <span>

#include "inspect/fixed_array.h"
#include "inspect/names.h"
#include "inspect/snapshot.h"

namespace weft::inline v0_1::detail::inspect {

// Fibers in one state that wait for the same kind of object, in the same task, with the same backtrace
// outside of weft: its own innermost frames are others where a worker sleeps on the stack.
struct FiberGroup {
  uint32_t first = kNone;    // the member with the least index
  uint32_t firstMember = 0;  // in FiberGroups::members()
  uint32_t numMembers = 0;
  uint32_t numObjects = 0;  // different ones
  uint32_t numOthers = 0;   // fibers of other groups that wait for one of these objects
  std::chrono::nanoseconds shortest{};
  std::chrono::nanoseconds longest{};
};

class FiberGroups {
 public:
  // Of the fibers in this state. Takes time linear in the number of fibers and of their frames, but for
  // sorting, and at most 28 bytes for each of them, and 40 for each group.
  FiberGroups(const Snapshot& snapshot, Names& names, std::pmr::memory_resource* memory,
              Fiber::State state = Fiber::State::Blocked);

  bool isRefused() const { return isRefused_; }  // there was no memory: it has no groups
  // Returns: the largest first, and the code of threads last.
  std::span<const FiberGroup> all() const { return groups_.all(); }
  std::span<const uint32_t> members(const FiberGroup& group) const {
    return members_.all().subspan(group.firstMember, group.numMembers);
  }

 private:
  bool group(const Snapshot& snapshot, Names& names, std::pmr::memory_resource* memory);
  void gather(const Snapshot& snapshot, std::span<const uint32_t> groupOf);
  void summarize(const Snapshot& snapshot, FiberGroup& group);

  Fiber::State state_;
  FixedArray<FiberGroup> groups_;
  FixedArray<uint32_t> members_;  // indices of fibers, group by group
  bool isRefused_ = false;
};

}  // namespace weft::inline v0_1::detail::inspect
