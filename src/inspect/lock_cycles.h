// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>

#include "inspect/fixed_array.h"
#include "inspect/snapshot.h"

namespace weft::inline v0_1::detail::inspect {

// Cycles of fibers, each of which waits for a lock that the next one holds, the last one for a lock of the
// first. A fiber that waits for a lock of its own is a cycle of one. A fiber is in one cycle at most.
//
// Whoever holds a lock is read a moment before or after the fiber that waits for it. So a cycle of a snapshot
// that was made while its fibers ran is certain only if a later snapshot has it too, with the same objects.
class LockCycles {
 public:
  bool isRefused() const { return isRefused_; }  // there was no memory: none was found
  size_t size() const { return size_; }
  // Returns: the indices of the fibers, the least first.
  std::span<const uint32_t> operator[](size_t i) const {
    const uint32_t begin = i == 0 ? 0 : ends_[i - 1];
    return members_.all().subspan(begin, ends_[i] - begin);
  }

 private:
  friend LockCycles findCycles(const Snapshot& snapshot, std::pmr::memory_resource* memory);
  void add(const Snapshot& snapshot, uint32_t member);

  FixedArray<uint32_t> members_;  // cycle by cycle
  FixedArray<uint32_t> ends_;     // of each cycle, in members_
  uint32_t size_ = 0;
  bool isRefused_ = false;
};

// Returns: all cycles. Takes time linear in the number of fibers. Where some wait for locks that are held, it
// takes four bytes for each fiber, and eight more for each that waits for such a lock.
LockCycles findCycles(const Snapshot& snapshot, std::pmr::memory_resource* memory);

}  // namespace weft::inline v0_1::detail::inspect
