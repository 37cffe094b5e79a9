// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "os/stack_pool.h"

namespace weft::inline v0_1::detail {

inline constexpr uint32_t kMaxSlabs = 8192;  // a pool's
inline constexpr uint32_t kNoSlab = UINT32_MAX;
inline constexpr uint32_t kWords = StackPool::kStacksPerSlab / 64;
inline constexpr uint32_t kIndexWords = kMaxSlabs / 64;

// A run of equal stacks, each above its guard. free[kind] has one bit for each free stack: cold, warm.
struct StackPool::Slab {
  char* memory;           // null: this entry is unused
  uint32_t capacity;      // stacks
  uint32_t numCarved;     // handed out at least once: the lowest ones
  uint32_t numFree[2];    // bits in free
  uint32_t numProtected;  // guards without access
  uint32_t numUnguarded;
  uint32_t* valgrindIds;  // one a stack; null unless on Valgrind
  uint64_t free[2][kWords];

  bool isEmpty() const { return numFree[0] + numFree[1] == numCarved; }
};

// Allocated zeroed and large, so that unused parts cost no memory.
struct StackPool::Tables {
  Slab slabs[kMaxSlabs];
  uint64_t mapped[kIndexWords];       // a bit per slab in use
  uint64_t withFree[2][kIndexWords];  // a bit per slab with a bit in free
};

struct StackPool::Cut {
  uint64_t warm[kWords];  // to be made cold
  bool isWhole;           // the slab is to be unmapped
};

inline bool isSet(const uint64_t* bits, uint32_t i) { return ((bits[i / 64] >> (i % 64)) & 1) != 0; }
inline void setBit(uint64_t* bits, uint32_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }
inline void clearBit(uint64_t* bits, uint32_t i) { bits[i / 64] &= ~(uint64_t{1} << (i % 64)); }

}  // namespace weft::inline v0_1::detail
