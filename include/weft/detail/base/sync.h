// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "weft/detail/base/spin_lock.h"
#include "weft/detail/port/processor.h"
#include "weft/export.h"

// The operations that the lock-free parts need from the machine, as a policy class, so that tests/model can
// run the parts on the model checker Relacy. A part accesses shared memory only through `Sync`.
namespace weft::inline v0_1::detail {

using TimePoint = std::chrono::steady_clock::time_point;

inline constexpr size_t kCacheLine = 64;

// True once the process is registered for membarrier(PRIVATE_EXPEDITED): set by the first heavyFence() at the
// latest, and cleared by agreeOnFences() only. See StdSync::lightFence.
WEFT_EXPORT extern std::atomic<bool> heavyFenceIsMembarrier;

// Makes both kinds of fence full if membarrier no longer works, which a sandbox may forbid.
// Requires: no thread uses fences; no scheduler exists.
void agreeOnFences();

using port::prefetchForWrite;

// The policy of production code.
struct StdSync {
  template <class T>
  using Atomic = port::Atomic<T>;

  // Shared data that is not atomic. The part's memory orders keep its accesses apart.
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

  using Lock = SpinLock;

  // An array of atomics that touches no memory until it is used. Requires: a store comes before each load.
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

  // std::atomic_thread_fence, but with the processor's fastest full fence.
  static void fence(std::memory_order order) {
    // (1) seq_cst: asked for by the caller, whose note names its partners.
    if (order == std::memory_order_seq_cst) {
      port::fullFence();
      return;
    }
    std::atomic_thread_fence(order);
  }

  // The sides of an asymmetric store-load fence (Dice, Huang, Yang, "Asymmetric Dekker Synchronization",
  // 2001). One thread does `store A; lightFence; load B`, another does `store B; heavyFence; load A`: at
  // least one of them sees the other's store. Two light fences order nothing.
  //
  // If the heavy side is a membarrier, the light side is a compiler barrier; otherwise both are full fences.
  // The flag may become true at any time: a light fence that reads false is full, which pairs with either
  // kind of heavy fence. A heavy fence uses membarrier if any thread may have read true. If that fails, the
  // program ends.
  static void lightFence() {
    // relaxed: the flag publishes nothing.
    if (heavyFenceIsMembarrier.load(std::memory_order_relaxed)) [[likely]] {
      // (2) seq_cst: emits no instruction; the other side's heavy fence completes it.
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      // (3) seq_cst: no membarrier (yet); the other side's heavyFence contains a full fence.
      fence(std::memory_order_seq_cst);
    }
  }
  WEFT_EXPORT static void heavyFence();

  // For light sides for which loading the flag costs too much. An object calls isLightFenceFree() once, when
  // it is made. If true, lightFenceWhereFree(), a compiler barrier, is enough for all its light sides.
  // relaxed: the flag publishes nothing.
  static bool isLightFenceFree() { return heavyFenceIsMembarrier.load(std::memory_order_relaxed); }
  // (4) seq_cst: emits no instruction, as at note 2.
  static void lightFenceWhereFree() { std::atomic_signal_fence(std::memory_order_seq_cst); }

  // One step of a short wait for another thread.
  static void pause() { port::pause(); }

  // Backs off after a lost race: 16 pauses, up to 256 (some microseconds) as `fails` grows.
  static void backOff(uint32_t& fails) {
    for (uint32_t i = 16u << fails; i != 0; i--) {
      pause();
    }
    if (fails < 4) {
      fails++;
    }
  }

  // One step of a wait for a thread that may have been preempted: see detail::relax().
  static void relax(uint32_t& round) { detail::relax(round); }

  // Blocks the thread while `word` holds `expected`, until futexWake or `deadline` (null: none). May return
  // early. Returns: false once the deadline has passed.
  WEFT_EXPORT static bool futexWait(std::atomic<uint32_t>& word, uint32_t expected,
                                    const TimePoint* deadline);

  // Wakes at most `count` threads that wait on `word`. Its memory must be mapped; the word need not exist.
  WEFT_EXPORT static void futexWake(std::atomic<uint32_t>& word, int count);

  // An eventfd, for a thread that sleeps in the system with other descriptors: see Parker.
  using WakeFd = int;
  static constexpr WakeFd kNoWakeFd = -1;
  WEFT_EXPORT static void signal(WakeFd wakeFd) noexcept;
};

}  // namespace weft::inline v0_1::detail
