// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/base/sync.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "weft/debug.h"

namespace weft::inline v0_1::detail {
namespace {

// From <linux/membarrier.h>, which older systems lack.
constexpr int kPrivateExpedited = 1 << 3;
constexpr int kRegisterPrivateExpedited = 1 << 4;

long membarrier(int command) { return syscall(__NR_membarrier, command, 0, 0); }

bool registerForMembarrier() {
  if (membarrier(kRegisterPrivateExpedited) != 0 || membarrier(kPrivateExpedited) != 0) {
    return false;
  }
  // relaxed: publishes nothing; see StdSync::lightFence.
  heavyFenceIsMembarrier.store(true, std::memory_order_relaxed);
  return true;
}

bool isRegistered() {
  static const bool registered = registerForMembarrier();
  return registered;
}

// This is early, since registering costs a process with several threads some milliseconds.
[[maybe_unused]] const bool kRegisteredEarly = isRegistered();

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* deadline) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, deadline, nullptr,
                 FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

constinit std::atomic<bool> heavyFenceIsMembarrier{false};

void agreeOnFences() {
  if (isRegistered() && membarrier(kPrivateExpedited) != 0) {
    // relaxed: a thread that needs fences uses objects that are made next, and is ordered after their making.
    heavyFenceIsMembarrier.store(false, std::memory_order_relaxed);
  }
}

void StdSync::heavyFence() {
  // relaxed: it changes only while nobody needs fences.
  if (isRegistered() && heavyFenceIsMembarrier.load(std::memory_order_relaxed)) {
    if (membarrier(kPrivateExpedited) == 0) {
      return;
    }
    // The light sides that have passed meanwhile were no fences.
    WEFT_FATAL(
        "the system call membarrier has failed (%s). "
        "It worked when the existing schedulers were made, and their threads rely on it. "
        "A sandbox that is put up while a scheduler exists, such as a seccomp filter, "
        "must allow membarrier. Put up a sandbox that forbids it before the first scheduler is made.",
        std::strerror(errno));
  }
  // (1) seq_cst: the heavy side where all fences are full; the partners are light fences.
  fence(std::memory_order_seq_cst);
}

bool StdSync::futexWait(std::atomic<uint32_t>& word, uint32_t expected, const TimePoint* deadline) {
  if (deadline == nullptr) {
    futex(word, FUTEX_WAIT_BITSET, expected, nullptr);
    return true;
  }
  // steady_clock is CLOCK_MONOTONIC, by which FUTEX_WAIT_BITSET takes an absolute time.
  using std::chrono::nanoseconds;
  const int64_t ns = std::chrono::duration_cast<nanoseconds>(deadline->time_since_epoch()).count();
  const int64_t since = ns < 0 ? 0 : ns;
  const timespec until{static_cast<time_t>(since / 1'000'000'000), static_cast<long>(since % 1'000'000'000)};
  return futex(word, FUTEX_WAIT_BITSET, expected, &until) == 0 || errno != ETIMEDOUT;
}

// It fails only where some 2^64 writes were not read yet, and then the thread wakes anyway.
void StdSync::signal(WakeFd wakeFd) noexcept {
  const int before = errno;
  const uint64_t once = 1;
  [[maybe_unused]] const ssize_t written = write(wakeFd, &once, sizeof once);
  errno = before;
}

// Cannot fail, even if the word is gone: the system only compares the address. errno stays as it is.
void StdSync::futexWake(std::atomic<uint32_t>& word, int count) {
  futex(word, FUTEX_WAKE, static_cast<uint32_t>(count), nullptr);
}

}  // namespace weft::inline v0_1::detail
