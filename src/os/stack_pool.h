// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/sync.h"
#include "weft/export.h"

// The process-wide pool of fiber stacks.
//
// Address space is reserved in slabs of up to 1,024 equal stacks; a page costs memory from its first touch
// on. Below each stack lies its guard. All bookkeeping is in dense tables (a third of a byte a stack): the
// pool never touches a stack. Free stacks are warm, holding pages from earlier use, or cold. Warm ones are
// handed out first, and low slabs before high ones, so that whole slabs become free after a burst.
//
// Guards are marks in the page table (MADV_GUARD_INSTALL, Linux 6.13), any number of them in one mapping.
// Without such marks, guards are pages without access, each of which splits a mapping in two. A process that
// has used all mappings that the kernel allows can neither allocate nor start threads. So weft takes at most
// seven eighths: at the usual limit of 65,530 (vm.max_map_count) that guards 28,668 stacks. Stacks beyond
// have no guard, after one warning: an overflow there runs into the stack below unnoticed.
namespace weft::inline v0_1::detail {

// A stack from a StackPool, usable in [base, base + size). Empty (base is null) where none could be had.
struct Stack {
  void* base = nullptr;
  uint32_t size = 0;  // bytes
  uint32_t id = 0;    // the pool's

  explicit operator bool() const { return base != nullptr; }
  uintptr_t bottom() const { return reinterpret_cast<uintptr_t>(base); }
  uintptr_t top() const { return bottom() + size; }
};

// Hands out stacks of one size. Any thread may call any member; none suspends the fiber.
class StackPool {
 public:
  static constexpr uint32_t kStacksPerSlab = 1024;
  static constexpr size_t kMaxStackSize = size_t{1} << 31;

  // The pool, never destroyed, for stacks of `bytes` in whole pages. Requires: 0 < bytes <= kMaxStackSize.
  WEFT_EXPORT static StackPool& forSize(size_t bytes);

  // Returns: a stack with arbitrary contents; an empty one where the system gives no memory.
  WEFT_EXPORT Stack acquire() noexcept;

  // Fills `stacks` with up to `count` stacks: one lock for all, and one system call for new guards.
  // Returns: how many, perhaps fewer than `count`; 0 only where the system gives no memory.
  WEFT_EXPORT uint32_t acquireBatch(Stack* stacks, uint32_t count) noexcept;

  // Takes stacks back, with their pages. Requires: they came from this pool, and nothing runs on them.
  WEFT_EXPORT void release(const Stack& stack) noexcept;
  WEFT_EXPORT void releaseBatch(const Stack* stacks, uint32_t count) noexcept;

  // Gives memory back to the system, highest slabs first, at about a microsecond a stack. At most `keepFree`
  // free stacks keep pages. Unused slabs are unmapped as long as `keepFree` remain.
  WEFT_EXPORT void trim(size_t keepFree) noexcept;

  // Trims to the demand of the recent past: gives back stacks that were unused between two calls at least
  // kPeriod apart. One call gives back about kTrimmedAtOnce, within a millisecond or two. A call that is not
  // due costs a load and a comparison. Workers call this before they park.
  // Returns: when to call again so that nothing surplus stays; TimePoint::max() when nothing is left.
  WEFT_EXPORT TimePoint giveBackSurplus(TimePoint now) noexcept;
  static constexpr std::chrono::milliseconds kPeriod{500};
  static constexpr std::chrono::milliseconds kTrimPause{1};
  static constexpr size_t kTrimmedAtOnce = 1024;

  // For a stack that is used again without release(): tells AddressSanitizer that nothing on it is poisoned.
  WEFT_EXPORT static void scrub(const Stack& stack) noexcept;

  size_t stackSize() const { return stackSize_; }

  // The guard of a stack is [base - guardSize(), base).
  WEFT_EXPORT static size_t guardSize() noexcept;

  // Returns: where the slab of `stack` begins. Only stacks and guards lie between.
  static uintptr_t slabBegin(const Stack& stack) noexcept {
    return stack.bottom() - guardSize() - stack.id % kStacksPerSlab * (stack.size + guardSize());
  }

  struct Stats {
    size_t numInUse;      // acquired and not released
    size_t mostInUse;     // the most that ever were
    size_t numWarm;       // free, with pages
    size_t numCold;       // free, without pages, guard in place
    size_t numSlabs;      // mapped
    size_t numUnguarded;  // of those mapped, in use or free
    size_t mappedBytes;   // address space of the slabs
  };
  WEFT_EXPORT Stats stats() noexcept;

 private:
  struct Slab;
  struct Tables;
  struct Cut;  // a piece of a slab that trim() works on

  explicit StackPool(size_t stackSize, Tables* tables);

  uint32_t takeFree(Stack* stacks, uint32_t count, bool warm) noexcept;
  uint32_t carve(Stack* stacks, uint32_t count) noexcept;
  void guard(Stack* stacks, uint32_t count) noexcept;
  bool grow() noexcept;
  char* mapSlab(uint32_t& capacity) noexcept;
  bool addSlab(char* memory, uint32_t capacity) noexcept;
  uint32_t trimBelow(uint32_t end, size_t keepFree, size_t budget) noexcept;
  bool cutSlab(uint32_t index, size_t keepFree, Cut& cut) noexcept;
  void unmapSlab(uint32_t index, const Cut& cut) noexcept;
  void coolStacks(uint32_t index, const Cut& cut) noexcept;
  void markFree(uint32_t index, uint32_t slot, bool warm) noexcept;
  void unmarkFree(uint32_t index, uint32_t slot, bool warm) noexcept;
  Stack stackAt(uint32_t index, uint32_t slot) const noexcept;

  const size_t stackSize_;
  const size_t stride_;  // stack and guard
  Tables* const tables_;
  std::mutex growth_;        // held while a slab is mapped
  std::mutex trimming_;      // held while memory is given back; guards these three:
  uint32_t surplusEnd_ = 0;  // giveBackSurplus() still has to trim the slabs below this index
  size_t surplusKept_ = 0;   // to this many free stacks
  TimePoint periodEnd_{};

  // Guards what follows and the tables. Held for table updates only, never for a system call.
  SpinLock lock_;
  uint32_t slabEnd_ = 0;  // no slab has this index or a higher one
  uint32_t fresh_;        // the slab with stacks never handed out, or kNoSlab
  uint32_t numSlabs_ = 0;
  size_t numCapacity_ = 0;  // stacks in all slabs
  size_t numInUse_ = 0;
  size_t numFree_[2] = {};      // cold, warm
  uint32_t firstWord_[2] = {};  // no earlier word of the slab index has a bit; cold, warm
  size_t peakInUse_ = 0;        // since the last giveBackSurplus() that did something
  size_t earlierPeak_ = 0;      // before that

  // Stored by releases (true) and giveBackSurplus() (false), which loads it.
  std::atomic<bool> mayHaveSurplus_{false};
  // steady_clock ticks; stored by giveBackSurplus() under lock_, loaded by it without, too.
  std::atomic<TimePoint::rep> nextCheck_{0};

  StackPool* nextPool_ = nullptr;
};

enum class GuardKind : uint8_t { Install, Protect, None };

// How new stacks are guarded. This is found out when the first one is made.
WEFT_EXPORT GuardKind stackGuardKind() noexcept;

// For tests: forces the kind, and the number of Protect guards that the process may have at once.
WEFT_EXPORT void setStackGuards(GuardKind kind, size_t maxProtectGuards) noexcept;

// The system calls that the pool makes, for tests to make them fail. Requires: no pool is in use meanwhile.
struct StackSystem {
  void* (*map)(size_t bytes);  // null on failure
  int (*unmap)(void* memory, size_t bytes);
  int (*advise)(void* memory, size_t bytes, int advice);
  int (*protect)(void* memory, size_t bytes, int protection);
  ssize_t (*adviseMany)(const iovec* pieces, size_t count, int advice);
};
WEFT_EXPORT extern StackSystem stackSystem;

}  // namespace weft::inline v0_1::detail
