// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/stack_pool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "weft/debug.h"
#include "weft/sanitizers.h"

#if WEFT_ADDRESS_SANITIZER_ENABLED
#include <sanitizer/asan_interface.h>
#endif

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define WEFT_VALGRIND 1
#else
#define WEFT_VALGRIND 0
#endif

// Weak: there where the program is linked with a leak checker, whatever weft was built with.
extern "C" {
[[gnu::weak]] void __lsan_register_root_region(const void* begin, size_t size);
[[gnu::weak]] void __lsan_unregister_root_region(const void* begin, size_t size);
}

namespace weft::detail {
namespace {

constexpr uint32_t kMaxSlabs = 8192;  // a pool's
constexpr uint32_t kNoSlab = UINT32_MAX;
constexpr uint32_t kFirstSlab = 16;                // stacks
constexpr size_t kMaxSlabBytes = size_t{4} << 30;  // but one stack at least
constexpr uint32_t kWords = StackPool::kStacksPerSlab / 64;
constexpr uint32_t kIndexWords = kMaxSlabs / 64;
constexpr uint32_t kMaxBatch = 64;  // stacks guarded by one system call

constexpr int kAdviceGuardInstall = 102;  // MADV_GUARD_INSTALL, which older headers lack
constexpr int kPidfdSelf = -10000;        // PIDFD_SELF, likewise

size_t pageBytes() noexcept {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool runsOnValgrind() noexcept {
#if WEFT_VALGRIND
  return RUNNING_ON_VALGRIND != 0;
#else
  return false;
#endif
}

void* mapPages(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

ssize_t adviseOwnPieces(const iovec* pieces, size_t count, int advice) {
#if defined(SYS_process_madvise)
  return syscall(SYS_process_madvise, kPidfdSelf, pieces, count, advice, 0);
#else
  errno = ENOSYS;
  return -1;
#endif
}

// Guards by marks are unknown to those who read memory by the list of mappings: a leak checker would
// fault on them.
GuardKind firstKind() noexcept {
  return &__lsan_register_root_region != nullptr || runsOnValgrind() ? GuardKind::Protect
                                                                     : GuardKind::Install;
}

constexpr auto kUnknownKind = static_cast<GuardKind>(UINT8_MAX);

// How guards are made, for all pools. Relaxed throughout: each value stands for itself alone.
struct Guards {
  std::atomic<GuardKind> kind{kUnknownKind};  // becomes known once; then Install may become Protect
  std::atomic<bool> mayInstallMany{true};     // becomes false once, where the system cannot
  std::atomic<bool> warned{false};
  std::atomic<size_t> maxProtected{0};  // set once, before the first; 0: not yet
  std::atomic<size_t> numProtected{0};
};
constinit Guards guards;

// Each guard without access costs two mappings; seven eighths of those that the kernel allows are weft's.
size_t protectLimitOfSystem() noexcept {
  if (runsOnValgrind()) {
    return 10000;  // it dies of 30,000 mappings
  }
  size_t mappings = 65530;
  if (const int file = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC); file >= 0) {
    char text[24] = {};
    if (read(file, text, sizeof(text) - 1) > 0) {
      if (const unsigned long long value = strtoull(text, nullptr, 10); value != 0) {
        mappings = value;
      }
    }
    close(file);
  }
  return std::max<size_t>(mappings / 8 * 7 / 2, 1);
}

size_t maxProtected() noexcept {
  // relaxed: whoever finds 0 computes the same.
  size_t limit = guards.maxProtected.load(std::memory_order_relaxed);
  if (limit == 0) {
    limit = protectLimitOfSystem();
    guards.maxProtected.store(limit, std::memory_order_relaxed);
  }
  return limit;
}

void warnUnguarded() noexcept {
  // relaxed: only the one who turns it speaks.
  if (!guards.warned.exchange(true, std::memory_order_relaxed)) {
    warn(
        "no guard page for a fiber stack: the kernel's limit on mappings is near. Further stacks have none, "
        "so that an overflow of one runs into another unnoticed. Raise vm.max_map_count, or use Linux 6.13 "
        "or later.");
  }
}

// Returns: whether the guard at `place` has become a page without access.
bool protectGuard(void* place) noexcept {
  // relaxed: a count and no more.
  if (guards.numProtected.fetch_add(1, std::memory_order_relaxed) < maxProtected() &&
      stackSystem.protect(place, StackPool::guardSize(), PROT_NONE) == 0) {
    return true;
  }
  guards.numProtected.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

// Marks the guards that `pieces` lists. Returns: how many, in order, now are.
uint32_t installGuards(const iovec* pieces, uint32_t count) noexcept {
  uint32_t done = 0;
  // relaxed: a wrong guess costs a system call.
  if (count > 1 && guards.mayInstallMany.load(std::memory_order_relaxed)) {
    const ssize_t bytes = stackSystem.adviseMany(pieces, count, kAdviceGuardInstall);
    if (bytes > 0) {
      done = static_cast<uint32_t>(static_cast<size_t>(bytes) / StackPool::guardSize());
    } else if (errno != ENOMEM && errno != EAGAIN && errno != EINTR) {
      guards.mayInstallMany.store(false, std::memory_order_relaxed);
    }
  }
  while (done < count &&
         stackSystem.advise(pieces[done].iov_base, pieces[done].iov_len, kAdviceGuardInstall) == 0) {
    ++done;
  }
  return done;
}

void registerRoots([[maybe_unused]] const char* memory, [[maybe_unused]] size_t bytes) noexcept {
  if (&__lsan_register_root_region != nullptr) {
    __lsan_register_root_region(memory, bytes);
  }
}

void unregisterRoots([[maybe_unused]] const char* memory, [[maybe_unused]] size_t bytes) noexcept {
  if (&__lsan_unregister_root_region != nullptr) {
    __lsan_unregister_root_region(memory, bytes);
  }
}

uint32_t valgrindRegister([[maybe_unused]] const Stack& stack) noexcept {
#if WEFT_VALGRIND
  return static_cast<uint32_t>(VALGRIND_STACK_REGISTER(stack.bottom(), stack.top() - 1));
#else
  return 0;
#endif
}

void valgrindForget([[maybe_unused]] uint32_t id) noexcept {
#if WEFT_VALGRIND
  VALGRIND_STACK_DEREGISTER(id);
#endif
}

bool isSet(const uint64_t* bits, uint32_t i) {
  return ((bits[i / 64] >> (i % 64)) & 1) != 0;
}
void setBit(uint64_t* bits, uint32_t i) {
  bits[i / 64] |= uint64_t{1} << (i % 64);
}
void clearBit(uint64_t* bits, uint32_t i) {
  bits[i / 64] &= ~(uint64_t{1} << (i % 64));
}

}  // namespace

constinit StackSystem stackSystem = {
    .map = mapPages,
    .unmap = munmap,
    .advise = madvise,
    .protect = mprotect,
    .adviseMany = adviseOwnPieces,
};

// A run of equal stacks, each above its guard. free[kind] has a bit per free stack: cold ones, warm ones.
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

// Allocated zeroed and large, so that what is not used costs no memory.
struct StackPool::Tables {
  Slab slabs[kMaxSlabs];
  uint64_t mapped[kIndexWords];       // a bit per slab in use
  uint64_t withFree[2][kIndexWords];  // a bit per slab with a bit in free
};

struct StackPool::Cut {
  uint64_t warm[kWords];  // to be made cold
  bool isWhole;           // the slab is to be unmapped
};

StackPool::StackPool(size_t stackSize, Tables* tables)
    : stackSize_(stackSize), stride_(stackSize + guardSize()), tables_(tables), fresh_(kNoSlab) {}

StackPool& StackPool::forSize(size_t bytes) {
  static constinit std::mutex mutex;
  static constinit StackPool* pools = nullptr;
  WEFT_ASSERT(bytes > 0 && bytes <= kMaxStackSize, "a fiber stack cannot have %zu bytes: choose 1 to %zu.",
              bytes, kMaxStackSize);
  bytes = (bytes + pageBytes() - 1) / pageBytes() * pageBytes();
  std::scoped_lock hold(mutex);
  for (StackPool* pool = pools; pool != nullptr; pool = pool->nextPool_) {
    if (pool->stackSize_ == bytes) {
      return *pool;
    }
  }
  void* tables = std::calloc(1, sizeof(Tables));
  void* memory = std::malloc(sizeof(StackPool));
  if (tables == nullptr || memory == nullptr) {
    WEFT_FATAL("out of memory: no %zu bytes for a pool of fiber stacks.", sizeof(Tables) + sizeof(StackPool));
  }
  auto* pool = new (memory) StackPool(bytes, static_cast<Tables*>(tables));
  pool->nextPool_ = pools;
  pools = pool;
  return *pool;
}

size_t StackPool::guardSize() noexcept {
  return pageBytes();
}

Stack StackPool::stackAt(uint32_t index, uint32_t slot) const noexcept {
  char* place = tables_->slabs[index].memory + slot * stride_;
  return {place + guardSize(), static_cast<uint32_t>(stackSize_), index * kStacksPerSlab + slot};
}

// Requires: lock_ is held, as for all that follow until acquire().
void StackPool::markFree(uint32_t index, uint32_t slot, bool warm) noexcept {
  Slab& slab = tables_->slabs[index];
  setBit(slab.free[warm], slot);
  ++numFree_[warm];
  if (slab.numFree[warm]++ == 0) {
    setBit(tables_->withFree[warm], index);
    firstWord_[warm] = std::min(firstWord_[warm], index / 64);
  }
}

void StackPool::unmarkFree(uint32_t index, uint32_t slot, bool warm) noexcept {
  Slab& slab = tables_->slabs[index];
  clearBit(slab.free[warm], slot);
  --numFree_[warm];
  if (--slab.numFree[warm] == 0) {
    clearBit(tables_->withFree[warm], index);
  }
}

uint32_t StackPool::takeFree(Stack* stacks, uint32_t count, bool warm) noexcept {
  uint32_t taken = 0;
  const uint64_t* withFree = tables_->withFree[warm];
  while (taken < count && numFree_[warm] != 0) {
    while (withFree[firstWord_[warm]] == 0) {
      ++firstWord_[warm];
    }
    const uint32_t index =
        firstWord_[warm] * 64 + static_cast<uint32_t>(std::countr_zero(withFree[firstWord_[warm]]));
    const uint64_t* bits = tables_->slabs[index].free[warm];
    for (uint32_t word = 0; word < kWords && taken < count; ++word) {
      while (bits[word] != 0 && taken < count) {
        const uint32_t slot = word * 64 + static_cast<uint32_t>(std::countr_zero(bits[word]));
        unmarkFree(index, slot, warm);
        stacks[taken++] = stackAt(index, slot);
      }
    }
  }
  return taken;
}

// Takes stacks that were never handed out and have no guard yet.
uint32_t StackPool::carve(Stack* stacks, uint32_t count) noexcept {
  if (fresh_ == kNoSlab) {
    return 0;
  }
  Slab& slab = tables_->slabs[fresh_];
  const uint32_t taken = std::min(count, slab.capacity - slab.numCarved);
  for (uint32_t i = 0; i < taken; ++i) {
    stacks[i] = stackAt(fresh_, slab.numCarved++);
  }
  if (slab.numCarved == slab.capacity) {
    fresh_ = kNoSlab;
  }
  return taken;
}

Stack StackPool::acquire() noexcept {
  Stack stack;
  acquireBatch(&stack, 1);
  return stack;
}

uint32_t StackPool::acquireBatch(Stack* stacks, uint32_t count) noexcept {
  for (;;) {
    uint32_t taken;
    uint32_t numNew = 0;
    {
      std::scoped_lock hold(lock_);
      taken = takeFree(stacks, count, true);
      taken += takeFree(stacks + taken, count - taken, false);
      if (taken == 0) {
        taken = numNew = carve(stacks, std::min(count, kMaxBatch));
      }
      numInUse_ += taken;
      peakInUse_ = std::max(peakInUse_, numInUse_);
    }
    if (numNew != 0) {
      guard(stacks, numNew);
    }
    if (taken != 0 || count == 0 || !grow()) {
      return taken;
    }
  }
}

// Guards new stacks, all of one slab.
void StackPool::guard(Stack* stacks, uint32_t count) noexcept {
  iovec pieces[kMaxBatch];
  for (uint32_t i = 0; i < count; ++i) {
    pieces[i] = {static_cast<char*>(stacks[i].base) - guardSize(), guardSize()};
  }
  uint32_t done = 0;
  uint32_t numProtected = 0;
  const GuardKind kind = stackGuardKind();
  if (kind == GuardKind::Install) {
    done = installGuards(pieces, count);
    if (done < count && errno == EINVAL) {
      // relaxed: whoever still reads Install finds out as well. Unknown to this system, or its memory is
      // locked.
      guards.kind.store(GuardKind::Protect, std::memory_order_relaxed);
    }
  }
  while (kind != GuardKind::None && done + numProtected < count &&
         protectGuard(pieces[done + numProtected].iov_base)) {
    ++numProtected;
  }
  const uint32_t numUnguarded = count - done - numProtected;
  if (numUnguarded != 0 && kind != GuardKind::None) {
    warnUnguarded();
  }
  Slab& slab = tables_->slabs[stacks[0].id / kStacksPerSlab];
  if (slab.valgrindIds != nullptr) {
    for (uint32_t i = 0; i < count; ++i) {
      slab.valgrindIds[stacks[i].id % kStacksPerSlab] = valgrindRegister(stacks[i]);
    }
  }
  if (numProtected + numUnguarded != 0) {
    std::scoped_lock hold(lock_);
    slab.numProtected += numProtected;
    slab.numUnguarded += numUnguarded;
  }
}

// Adds a slab unless somebody else just did. Returns: false where the system has no memory.
bool StackPool::grow() noexcept {
  std::scoped_lock alone(growth_);
  uint32_t capacity;
  {
    std::scoped_lock hold(lock_);
    if (fresh_ != kNoSlab || numFree_[0] + numFree_[1] != 0) {
      return true;
    }
    const size_t most = std::max<size_t>(kMaxSlabBytes / stride_, 1);
    capacity = static_cast<uint32_t>(
        std::min({std::max<size_t>(numCapacity_, kFirstSlab), size_t{kStacksPerSlab}, most}));
  }
  char* memory = mapSlab(capacity);
  if (memory == nullptr) {
    return false;
  }
  registerRoots(memory, capacity * stride_);
  if (addSlab(memory, capacity)) {
    return true;
  }
  unregisterRoots(memory, capacity * stride_);
  stackSystem.unmap(memory, capacity * stride_);
  return false;
}

// Where there is no room for a whole slab, a smaller one will do.
char* StackPool::mapSlab(uint32_t& capacity) noexcept {
  for (; capacity != 0; capacity /= 2) {
    if (void* memory = stackSystem.map(capacity * stride_); memory != nullptr) {
      // A huge page would cost a stack 2 MiB. Linux before 6.7 does not conclude that from MAP_STACK. Kernels
      // without huge pages refuse, which is as good.
      stackSystem.advise(memory, capacity * stride_, MADV_NOHUGEPAGE);
      return static_cast<char*>(memory);
    }
  }
  return nullptr;
}

bool StackPool::addSlab(char* memory, uint32_t capacity) noexcept {
  auto* ids = runsOnValgrind() ? static_cast<uint32_t*>(std::calloc(capacity, sizeof(uint32_t))) : nullptr;
  std::scoped_lock hold(lock_);
  uint32_t word = 0;
  while (word < kIndexWords && tables_->mapped[word] == UINT64_MAX) {
    ++word;
  }
  if (word == kIndexWords) {
    std::free(ids);
    return false;
  }
  const uint32_t index = word * 64 + static_cast<uint32_t>(std::countr_one(tables_->mapped[word]));
  setBit(tables_->mapped, index);
  slabEnd_ = std::max(slabEnd_, index + 1);
  tables_->slabs[index] = {.memory = memory,
                           .capacity = capacity,
                           .numCarved = 0,
                           .numFree = {},
                           .numProtected = 0,
                           .numUnguarded = 0,
                           .valgrindIds = ids,
                           .free = {}};
  fresh_ = index;
  ++numSlabs_;
  numCapacity_ += capacity;
  return true;
}

void StackPool::release(const Stack& stack) noexcept {
  releaseBatch(&stack, 1);
}

void StackPool::releaseBatch(const Stack* stacks, uint32_t count) noexcept {
  for (uint32_t i = 0; i < count; ++i) {
    scrub(stacks[i]);
  }
  std::scoped_lock hold(lock_);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = stacks[i].id / kStacksPerSlab;
    const uint32_t slot = stacks[i].id % kStacksPerSlab;
    WEFT_DCHECK(!isSet(tables_->slabs[index].free[0], slot) && !isSet(tables_->slabs[index].free[1], slot),
                "a fiber stack was released twice.");
    markFree(index, slot, true);
  }
  numInUse_ -= count;
  // relaxed: a hint; the lock publishes the stacks.
  if (!mayHaveSurplus_.load(std::memory_order_relaxed)) {
    mayHaveSurplus_.store(true, std::memory_order_relaxed);
  }
}

void StackPool::scrub([[maybe_unused]] const Stack& stack) noexcept {
#if WEFT_ADDRESS_SANITIZER_ENABLED
  __asan_unpoison_memory_region(stack.base, stack.size);
#endif
}

void StackPool::trim(size_t keepFree) noexcept {
  std::scoped_lock alone(trimming_);
  uint32_t index;
  {
    std::scoped_lock hold(lock_);
    index = slabEnd_;
  }
  trimBelow(index, keepFree, SIZE_MAX);
}

// Trims the slabs below index `end`, highest first, until `budget` stacks or up to a slab more have been given back.
// Returns: below which index slabs are left to trim. Requires: trimming_ is held.
uint32_t StackPool::trimBelow(uint32_t end, size_t keepFree, size_t budget) noexcept {
  while (end != 0 && budget != 0) {
    Cut cut;
    if (!cutSlab(--end, keepFree, cut)) {
      continue;
    }
    size_t count = 0;
    for (const uint64_t bits : cut.warm) {
      count += static_cast<size_t>(std::popcount(bits));
    }
    if (cut.isWhole) {
      count = tables_->slabs[end].numCarved;
      unmapSlab(end, cut);
    } else {
      coolStacks(end, cut);
    }
    budget -= std::min(budget, count);
  }
  return end;
}

// Takes surplus stacks of a slab out of the tables, so that trim() may work on them without the lock.
// Returns: false where there are none.
bool StackPool::cutSlab(uint32_t index, size_t keepFree, Cut& cut) noexcept {
  std::scoped_lock hold(lock_);
  Slab& slab = tables_->slabs[index];
  if (slab.memory == nullptr) {
    return false;
  }
  cut = {};
  cut.isWhole = slab.isEmpty() && numFree_[0] + numFree_[1] >= keepFree + slab.numCarved &&
                (slab.numFree[1] == 0 || numFree_[1] >= keepFree + slab.numFree[1]);
  size_t numToCool = numFree_[1] - std::min(numFree_[1], keepFree);
  for (uint32_t slot = slab.numCarved; slot-- != 0;) {
    if (isSet(slab.free[1], slot) && (cut.isWhole || numToCool != 0)) {
      numToCool -= cut.isWhole ? 0 : 1;
      unmarkFree(index, slot, true);
      setBit(cut.warm, slot);
    } else if (cut.isWhole && isSet(slab.free[0], slot)) {
      unmarkFree(index, slot, false);
    }
  }
  if (cut.isWhole && fresh_ == index) {
    fresh_ = kNoSlab;
  }
  return cut.isWhole || std::any_of(cut.warm, cut.warm + kWords, [](uint64_t bits) { return bits != 0; });
}

void StackPool::unmapSlab(uint32_t index, const Cut& cut) noexcept {
  // No stack of the slab is free or in use: it belongs to this call.
  Slab& slab = tables_->slabs[index];
  const size_t bytes = slab.capacity * stride_;
  unregisterRoots(slab.memory, bytes);
  if (stackSystem.unmap(slab.memory, bytes) != 0) {
    // The system lacks the memory to split a mapping. The stacks stay.
    registerRoots(slab.memory, bytes);
    coolStacks(index, cut);
    return;
  }
  for (uint32_t slot = 0; slab.valgrindIds != nullptr && slot < slab.numCarved; ++slot) {
    valgrindForget(slab.valgrindIds[slot]);
  }
  std::free(slab.valgrindIds);
  // relaxed: a count and no more.
  guards.numProtected.fetch_sub(slab.numProtected, std::memory_order_relaxed);
  std::scoped_lock hold(lock_);
  --numSlabs_;
  numCapacity_ -= slab.capacity;
  slab.memory = nullptr;
  clearBit(tables_->mapped, index);
  while (slabEnd_ != 0 && !isSet(tables_->mapped, slabEnd_ - 1)) {
    --slabEnd_;
  }
}

void StackPool::coolStacks(uint32_t index, const Cut& cut) noexcept {
  const Slab& slab = tables_->slabs[index];
  uint64_t stillWarm[kWords] = {};
  for (uint32_t slot = 0; slot < slab.capacity; ++slot) {
    const uint32_t first = slot;
    while (slot < slab.capacity && isSet(cut.warm, slot)) {
      ++slot;
    }
    // Guards survive this, so that a run of neighbours is one piece.
    if (slot != first && stackSystem.advise(stackAt(index, first).base,
                                            (slot - first) * stride_ - guardSize(), MADV_DONTNEED) != 0) {
      for (uint32_t i = first; i < slot; ++i) {
        setBit(stillWarm, i);
      }
    }
  }
  std::scoped_lock hold(lock_);
  for (uint32_t slot = 0; slot < slab.numCarved; ++slot) {
    if (cut.isWhole || isSet(cut.warm, slot)) {
      markFree(index, slot, isSet(stillWarm, slot));
    }
  }
  if (cut.isWhole && slab.numCarved < slab.capacity && fresh_ == kNoSlab) {
    fresh_ = index;
  }
}

TimePoint StackPool::giveBackSurplus(TimePoint now) noexcept {
  // relaxed: hints; what they lead to looks again under the lock.
  if (!mayHaveSurplus_.load(std::memory_order_relaxed)) {
    return TimePoint::max();
  }
  TimePoint next{TimePoint::duration{nextCheck_.load(std::memory_order_relaxed)}};
  if (now < next) {
    return next;
  }
  const std::unique_lock alone(trimming_, std::try_to_lock);
  if (!alone.owns_lock()) {
    return now + kTrimPause;
  }
  {
    std::scoped_lock hold(lock_);
    // relaxed, as the two stores below: the lock orders them.
    next = TimePoint{TimePoint::duration{nextCheck_.load(std::memory_order_relaxed)}};
    if (now < next) {
      return next;
    }
    if (surplusEnd_ == 0) {
      periodEnd_ = now + kPeriod;
      surplusKept_ = peakInUse_ - numInUse_;
      surplusEnd_ = slabEnd_;
      peakInUse_ = numInUse_;
    }
  }
  surplusEnd_ = trimBelow(surplusEnd_, surplusKept_, kTrimmedAtOnce);
  next = surplusEnd_ != 0 ? now + kTrimPause : periodEnd_;
  std::scoped_lock hold(lock_);
  nextCheck_.store(next.time_since_epoch().count(), std::memory_order_relaxed);
  if (surplusEnd_ == 0 && surplusKept_ == 0 && peakInUse_ == numInUse_) {
    mayHaveSurplus_.store(false, std::memory_order_relaxed);
    return TimePoint::max();
  }
  return next;
}

StackPool::Stats StackPool::stats() noexcept {
  std::scoped_lock hold(lock_);
  Stats result{.numInUse = numInUse_,
               .numWarm = numFree_[1],
               .numCold = numFree_[0],
               .numSlabs = numSlabs_,
               .numUnguarded = 0,
               .mappedBytes = numCapacity_ * stride_};
  for (uint32_t index = 0; index < slabEnd_; ++index) {
    if (tables_->slabs[index].memory != nullptr) {
      result.numUnguarded += tables_->slabs[index].numUnguarded;
    }
  }
  return result;
}

GuardKind stackGuardKind() noexcept {
  // relaxed: whoever finds it unknown finds out the same.
  GuardKind kind = guards.kind.load(std::memory_order_relaxed);
  if (kind == kUnknownKind) {
    kind = firstKind();
    guards.kind.store(kind, std::memory_order_relaxed);
  }
  return kind;
}

void setStackGuards(GuardKind kind, size_t maxProtectGuards) noexcept {
  // relaxed: each value stands for itself alone, and tests set them while no other thread runs.
  guards.kind.store(kind, std::memory_order_relaxed);
  guards.maxProtected.store(maxProtectGuards, std::memory_order_relaxed);
  guards.mayInstallMany.store(true, std::memory_order_relaxed);
  guards.warned.store(false, std::memory_order_relaxed);
}

}  // namespace weft::detail
