// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "weft/detail/base/spin_lock.h"
#include "weft/export.h"

// The operations that the lock-free parts need from the machine, as a policy class, so that tests/model can
// run the very same code on the Relacy model checker. A part is a template over `Sync` and accesses shared
// memory only through it.
namespace weft::inline v0_1::detail {

using TimePoint = std::chrono::steady_clock::time_point;

inline constexpr size_t kCacheLine = 64;

// True once the process is registered for membarrier(PRIVATE_EXPEDITED): set once, by the first
// heavyFence() at the latest, and cleared by agreeOnFences() only. See StdSync::lightFence.
WEFT_EXPORT extern std::atomic<bool> heavyFenceIsMembarrier;

// Finds out whether membarrier still works, which a sandbox may forbid at any time. If it does not, both
// kinds of fence are full ones from now on.
// Requires: nobody is using fences; no scheduler exists.
void agreeOnFences();

// Fetches a line that is about to be written, so that no other core has it then.
inline void prefetchForWrite(const void* line) {
#if defined(__x86_64__)
  // __builtin_prefetch makes a prefetch for reading, unless the compiler is told of the processor.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

// The policy of production code.
struct StdSync {
  template <class T>
  using Atomic = std::atomic<T>;

  // Data that is shared without being atomic. The memory orders of the part keep its accesses apart.
  template <class T>
  class Var {
   public:
    Var() = default;
    constexpr explicit Var(T value) : value_(value) {}
    T get() const { return value_; }
    void set(T value) { value_ = value; }

   private:
    T value_{};
  };

  // A lock for sections of a few instructions.
  using Lock = SpinLock;

  // An array of atomics that costs no store, and so no memory, until it is used.
  // Requires: an element is stored before it is loaded.
  template <class T, size_t N>
  class LazyArray {
   public:
    LazyArray() {}
    Atomic<T>& operator[](size_t i) { return atoms_[i]; }

   private:
    static_assert(std::atomic<T>::is_always_lock_free && sizeof(std::atomic<T>) == sizeof(T));
    union {
      Atomic<T> atoms_[N];
    };
  };

  // As std::atomic_thread_fence, but a full fence on x86 is a locked add to the stack: `mfence`, which
  // compilers emit, takes about twice as long.
  static void fence(std::memory_order order) {
#if defined(__x86_64__)
    // (1) seq_cst: asked for by the caller, whose note names its partners.
    if (order == std::memory_order_seq_cst) {
      asm volatile("lock addl $0, -64(%%rsp)" ::: "memory", "cc");
      return;
    }
#endif
    std::atomic_thread_fence(order);
  }

  // The two sides of an asymmetric store-load fence (Dekker's). One thread does `store A; lightFence; load B`
  // and another does `store B; heavyFence; load A`: at least one of the two sees the other's store. Two light
  // fences order nothing.
  //
  // The light side is a compiler barrier where the heavy side is a membarrier; otherwise both are full
  // fences. The flag may become true at any time. A light fence that reads it as false is a full fence, which
  // is good enough against either heavy side. A heavy fence uses membarrier whenever any thread may have read
  // the flag as true. If membarrier fails then, a message ends the program: a fence of one side alone would
  // not do.
  static void lightFence() {
    // relaxed: the flag publishes nothing.
    if (heavyFenceIsMembarrier.load(std::memory_order_relaxed)) [[likely]] {
      // (2) seq_cst: emits no instruction; the heavy fence of the other side completes it.
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      // (3) seq_cst: no membarrier, or not yet; the other side's heavyFence is, or contains, a full fence.
      fence(std::memory_order_seq_cst);
    }
  }
  WEFT_EXPORT static void heavyFence();

  // For a light side that runs so often that the load of the flag counts. An object asks isLightFenceFree()
  // once, when it is made. If true, a compiler barrier, lightFenceWhereFree(), is enough for all its light
  // sides.
  // relaxed: the flag publishes nothing.
  static bool isLightFenceFree() { return heavyFenceIsMembarrier.load(std::memory_order_relaxed); }
  // (4) seq_cst: emits no instruction, as lightFence().
  static void lightFenceWhereFree() { std::atomic_signal_fence(std::memory_order_seq_cst); }

  // One step of a short wait for another thread.
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  // A step back after a lost race, so that others get on: 16 pauses, and up to 256 (some microseconds) as
  // `fails` grows. Increments `fails`.
  static void backOff(uint32_t& fails) {
    for (uint32_t i = 16u << fails; i != 0; i--) {
      pause();
    }
    if (fails < 4) {
      fails++;
    }
  }

  // One step of a wait for a thread that may have been preempted: pauses, or gives the processor away once
  // `round` has grown, or sleeps. Increments `round`.
  static void relax(uint32_t& round) { detail::relax(round); }

  // Blocks the thread while `word` holds `expected`, until futexWake or `deadline` (none when null). May
  // return early for no reason.
  // Returns: false once the deadline has passed, else true.
  WEFT_EXPORT static bool futexWait(std::atomic<uint32_t>& word, uint32_t expected,
                                    const TimePoint* deadline);

  // Wakes at most `count` threads that wait on `word`. It uses only the address, so the word need not be
  // alive any more; its memory must still be mapped.
  WEFT_EXPORT static void futexWake(std::atomic<uint32_t>& word, int count);

  // An eventfd, for a thread that sleeps in the system with other descriptors: see Parker.
  using WakeFd = int;
  static constexpr WakeFd kNoWakeFd = -1;
  WEFT_EXPORT static void signal(WakeFd wakeFd) noexcept;
};

}  // namespace weft::inline v0_1::detail
