// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include <weft/detail/park/parker.h>

#include "relacy_sync.h"

// What Waiter and WaitList are to the primitives, for those that are checked: the checker sees each access,
// so that a list that is not guarded is a data race, and a wake that nobody waits for, or that never comes,
// an error.
namespace weft::model {

template <class T>
struct Seen {
  Seen& operator=(T value) {
    var.set(value);
    return *this;
  }
  operator T() const { return var.get(); }
  RelacySync::Var<T> var;
};

struct Waiter {
  Seen<uint8_t> mark;
  Seen<bool> isLinked;

  void wake() {
    // As a wake: what the waker did is seen by the waiter.
    numWakes.fetch_add(1, std::memory_order_release);
    parker.unpark();
  }
  void block() {
    while (numWakes.load(std::memory_order_acquire) == numTaken) {
      parker.park();
    }
    ++numTaken;
  }
  // The time may be up at any moment.
  bool blockUntilSomeTime() {
    while (numWakes.load(std::memory_order_acquire) == numTaken) {
      if (!parker.parkUntil(detail::TimePoint())) {
        return false;
      }
    }
    ++numTaken;
    return true;
  }
  void checkNoneLeft() const { check(numWakes.newest() == numTaken, "no wake is left behind"); }

  RelacySync::Atomic<int> numWakes{0};
  int numTaken = 0;
  detail::Parker<RelacySync> parker;
};

class WaiterList {
 public:
  WaiterList() = default;
  WaiterList(WaiterList&& other) { *this = static_cast<WaiterList&&>(other); }
  WaiterList& operator=(WaiterList&& other) {
    size_ = static_cast<int>(other.size_);
    for (int i = 0; i < size_; ++i) {
      waiters_[i] = other.waiters_[i];
    }
    other.size_ = 0;
    return *this;
  }

  bool isEmpty() const { return size_ == 0; }
  Waiter* front() const { return size_ == 0 ? nullptr : waiters_[0]; }
  void pushBack(Waiter& waiter) {
    append(waiter);
    waiter.isLinked = true;
  }
  void pushFront(Waiter& waiter) {
    for (int i = size_; i > 0; --i) {
      waiters_[i] = waiters_[i - 1];
    }
    waiters_[0] = &waiter;
    size_ = size_ + 1;
    waiter.isLinked = true;
  }
  void remove(Waiter& waiter) {
    int kept = 0;
    for (int i = 0; i < size_; ++i) {
      if (waiters_[i] != &waiter) {
        waiters_[kept++] = waiters_[i];
      }
    }
    size_ = kept;
    waiter.isLinked = false;
  }
  void claimFront(WaiterList& claimed) {
    Waiter& waiter = *front();
    remove(waiter);
    claimed.append(waiter);
  }
  void claimAll(WaiterList& other) {
    while (!other.isEmpty()) {
      other.claimFront(*this);
    }
  }
  void wakeAll() {
    for (int i = 0; i < size_; ++i) {
      waiters_[i]->wake();
    }
  }

 private:
  void append(Waiter& waiter) {
    waiters_[size_] = &waiter;
    size_ = size_ + 1;
  }

  Waiter* waiters_[4] = {};
  Seen<int> size_;
};

}  // namespace weft::model
