// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/mutex.h"

#include <chrono>

#include "weft/debug.h"
#include "weft/detail/sync.h"
#include "weft/detail/tiny_lock.h"

// The slow paths. A waiter that is woken tries again, so that the holder need not wait for it to run; what it is
// woken for may have been taken by a running fiber, in which case it queues again, at the front. After a millisecond of this it
// asks for the mutex to be handed over (Waiter::mark), and the next unlock() leaves kLocked set and gives it the mutex. The
// idea is that of WTF::Lock and ParkingLot (Pizlo 2016).
//
// kListLocked is set and cleared by read-modify-writes only, since lock() and unlock() change kLocked beside it.
namespace weft {
namespace {

using detail::StdSync;
using detail::TimePoint;
using detail::Waiter;

constexpr auto kPatience = std::chrono::milliseconds(1);
constexpr int kSpins = 24;

// Waiter::mark
constexpr uint8_t kPatient = 0, kImpatient = 1, kHandedOver = 2;

}  // namespace

uint32_t mutex::listBits() const {
  return list_.isEmpty() ? 0 : kWaiters | (list_.front()->mark == kImpatient ? kUrgent : 0);
}

void mutex::lockSlow() {
  // relaxed: see setOwner.
  WEFT_ASSERT(owner_.load(std::memory_order_relaxed) != detail::currentOwner(),
              "mutex %p was locked by the fiber or thread that holds it already, which would wait for ever. Unlock it before, or "
              "call a function that expects it to be held.",
              static_cast<const void*>(this));
  Waiter& waiter = detail::currentWaiter();
  waiter.mark = kPatient;
  TimePoint since{};
  bool wasWoken = false;
  for (;;) {
    for (int i = 0; i < kSpins; ++i) {
      // relaxed: a hint.
      uint32_t word = word_.load(std::memory_order_relaxed);
      if ((word & kLocked) != 0) {
        StdSync::pause();
        continue;
      }
      const uint32_t taken = (word | kLocked) & ~(wasWoken ? kWoken : 0);
      // (4) acquire: sees what the holder before wrote; pairs with (6, 7), and with the release in unlock().
      if (word_.compare_exchange_weak(word, taken, std::memory_order_acquire, std::memory_order_relaxed)) {
        return;
      }
    }
    // Queue, unless the mutex has become free meanwhile.
    uint32_t word = detail::lockBit<uint32_t>(word_, kListLocked) | kListLocked;
    bool isQueued = false;
    for (;;) {
      const bool take = (word & kLocked) == 0;
      if (!take && !isQueued) {
        wasWoken ? list_.pushFront(waiter) : list_.pushBack(waiter);
        isQueued = true;
      } else if (take && isQueued) {
        list_.remove(waiter);
        isQueued = false;
      }
      const uint32_t next = (word & ~(kListLocked | kListBits | (wasWoken ? kWoken : 0))) | listBits() | kLocked;
      // (5) acq_rel: ends the list's section, seen by the next lockBit; where the mutex was free, sees what the holder before
      // wrote; pairs with (6, 7).
      if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        if (take) {
          return;
        }
        break;
      }
    }
    detail::block(waiter, "mutex", this);
    if (waiter.mark == kHandedOver) {
      return;
    }
    wasWoken = true;
    const TimePoint now = TimePoint::clock::now();
    if (since == TimePoint{}) {
      since = now;
    } else if (now - since >= kPatience) {
      waiter.mark = kImpatient;
    }
  }
}

void mutex::unlockSlow() {
  // relaxed: only a guess for the compare-exchange.
  uint32_t word = word_.load(std::memory_order_relaxed);
  // Nobody waits, or somebody is on the way already and nobody has to be handed the mutex.
  while ((word & kListLocked) == 0 && ((word & kWaiters) == 0 || (word & (kWoken | kUrgent)) == kWoken)) {
    // (6) release: the next holder sees what this one wrote; pairs with (4, 5).
    if (word_.compare_exchange_weak(word, word & ~kLocked, std::memory_order_release, std::memory_order_relaxed)) {
      return;
    }
  }
  word = detail::lockBit<uint32_t>(word_, kListLocked) | kListLocked;
  Waiter* first = list_.front();
  const bool handOver = first != nullptr && first->mark == kImpatient;
  const bool wake = first != nullptr && (handOver || (word & kWoken) == 0);
  if (wake) {
    list_.remove(*first);
  }
  if (handOver) {
    first->mark = kHandedOver;
  }
  uint32_t next = 0;
  do {
    next = (word & ~(kListLocked | kListBits | (handOver ? 0 : kLocked))) | listBits();
    next |= wake && !handOver ? kWoken : 0;
    // (7) release: the next holder sees what this one wrote, and the next lockBit the list; pairs with (4, 5). The mutex may be
    // gone after it, unless somebody waits.
  } while (!word_.compare_exchange_weak(word, next, std::memory_order_release, std::memory_order_relaxed));
  if (wake) {
    detail::wake(*first);
  }
}

// relaxed: it matters only whether it is the caller.
void mutex::reportNotHeld() const {
  WEFT_FATAL(
      "mutex %p was unlocked by a fiber or thread that does not hold it (it is %s). Unlock it where it was locked; "
      "weft::lock does that by itself.",
      static_cast<const void*>(this), owner_.load(std::memory_order_relaxed) == nullptr ? "not locked" : "held by another");
}

void mutex::reportDestroyedInUse() {
  WEFT_FATAL("a mutex was destroyed while somebody held it or waited for it. Keep it alive until all are done with it.");
}

}  // namespace weft
