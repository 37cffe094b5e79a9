// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/stack_system.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "weft/debug.h"
#include "weft/memory.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_STACK_REGISTER(low, high) 0
#define VALGRIND_STACK_DEREGISTER(id) (void)0
#endif

// Weak: it is there if the program is linked with a leak checker, no matter how weft was built.
extern "C" {
[[gnu::weak]] void __lsan_register_root_region(const void* begin, size_t size);
[[gnu::weak]] void __lsan_unregister_root_region(const void* begin, size_t size);
}

namespace weft::inline v0_1::detail {
namespace {

constexpr int kAdviceGuardInstall = 102;  // MADV_GUARD_INSTALL, which older headers lack
constexpr int kAdviceOfNobody = -1;       // which no kernel knows
constexpr int kPidfdSelf = -10000;        // PIDFD_SELF, which older headers lack

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

// Emulators such as qemu-user accept all advice, and do nothing.
bool checksAdvice() noexcept { return madvise(nullptr, 0, kAdviceOfNobody) != 0; }

// Tools that read memory by the list of mappings do not know marks as guards: a leak checker would fault.
GuardKind firstKind() noexcept {
  return &__lsan_register_root_region != nullptr || runsOnValgrind() || !checksAdvice() ? GuardKind::Protect
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

// Each guard without access costs two mappings. weft may use seven eighths of those that the kernel allows.
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
  // relaxed: any thread that finds 0 computes the same.
  size_t limit = guards.maxProtected.load(std::memory_order_relaxed);
  if (limit == 0) {
    limit = protectLimitOfSystem();
    guards.maxProtected.store(limit, std::memory_order_relaxed);
  }
  return limit;
}

void warnUnguarded() noexcept {
  // relaxed: only the thread that sets it prints the warning.
  if (!guards.warned.exchange(true, std::memory_order_relaxed)) {
    warn(
        "no guard for a fiber stack: the kernel's limit on mappings is near. "
        "Further stacks have none, so that an overflow of one runs into another unnoticed. "
        "Raise vm.max_map_count, or use Linux 6.13 or later.");
  }
}

// Returns: whether the guard at `place` is without access now.
bool protectGuard(void* place) noexcept {
  // relaxed: a count and no more.
  if (guards.numProtected.fetch_add(1, std::memory_order_relaxed) < maxProtected() &&
      stackSystem.protect(place, StackPool::guardSize(), PROT_NONE) == 0) {
    return true;
  }
  guards.numProtected.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

// Marks the guards that `pieces` lists, in order. Returns: how many are marked now.
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

}  // namespace

OtherGuards makeGuards(const iovec* pieces, uint32_t count) noexcept {
  uint32_t done = 0;
  OtherGuards others;
  const GuardKind kind = stackGuardKind();
  if (kind == GuardKind::Install) {
    done = installGuards(pieces, count);
    if (done < count && errno == EINVAL) {
      // relaxed: a thread that still reads Install finds out too: no such marks, or the memory is locked.
      guards.kind.store(GuardKind::Protect, std::memory_order_relaxed);
    }
  }
  while (kind != GuardKind::None && done + others.numProtected < count &&
         protectGuard(pieces[done + others.numProtected].iov_base)) {
    ++others.numProtected;
  }
  others.numUnguarded = count - done - others.numProtected;
  if (others.numUnguarded != 0 && kind != GuardKind::None) {
    warnUnguarded();
  }
  return others;
}

void forgetProtectedGuards(uint32_t count) noexcept {
  // relaxed: a count and no more.
  guards.numProtected.fetch_sub(count, std::memory_order_relaxed);
}

GuardKind stackGuardKind() noexcept {
  // relaxed: any thread that finds it unknown finds out the same.
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

bool runsOnValgrind() noexcept { return RUNNING_ON_VALGRIND != 0; }

void registerRoots(const char* memory, size_t bytes) noexcept {
  if (&__lsan_register_root_region != nullptr) {
    __lsan_register_root_region(memory, bytes);
  }
}

void unregisterRoots(const char* memory, size_t bytes) noexcept {
  if (&__lsan_unregister_root_region != nullptr) {
    __lsan_unregister_root_region(memory, bytes);
  }
}

uint32_t valgrindRegister([[maybe_unused]] const Stack& stack) noexcept {
  return static_cast<uint32_t>(VALGRIND_STACK_REGISTER(stack.bottom(), stack.top() - 1));
}

void valgrindForget([[maybe_unused]] uint32_t id) noexcept { VALGRIND_STACK_DEREGISTER(id); }

// Frames up to 64 KiB cannot step over it. It has an odd number of pages, so that a stack of an even number
// has an odd one with its guard: otherwise the tops of all stacks would share few entries of the TLB, chosen
// by the last bits.
size_t StackPool::guardSize() noexcept {
  const size_t page = pageSize();
  return (((size_t{64} * 1024 + page - 1) / page + 1) | 1) * page;
}

constinit StackSystem stackSystem = {
    .map = mapPages,
    .unmap = munmap,
    .advise = madvise,
    .protect = mprotect,
    .adviseMany = adviseOwnPieces,
};

}  // namespace weft::inline v0_1::detail
