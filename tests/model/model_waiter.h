// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/detail/park/parker.h>
#include <weft/detail/wait/stoppable.h>

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
  Seen<void*> data;

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

template <size_t kCount>
void checkNoneLeft(const Waiter (&waiters)[kCount]) {
  for (const Waiter& waiter : waiters) {
    waiter.checkNoneLeft();
  }
}

// No node of a select: those have models of their own.
inline bool claim(const Waiter&) { return true; }
inline Waiter& ownerOf(Waiter& waiter) { return waiter; }

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
    check(waiter.isLinked, "who is taken out is in the list");
    int kept = 0;
    for (int i = 0; i < size_; ++i) {
      if (waiters_[i] != &waiter) {
        waiters_[kept++] = waiters_[i];
      }
    }
    size_ = kept;
    waiter.isLinked = false;
  }
  Waiter* popFront() {
    Waiter* waiter = front();
    if (waiter != nullptr) {
      remove(*waiter);
    }
    return waiter;
  }
  void claimFront(WaiterList& claimed) { claimed.append(*popFront()); }
  void pushClaimed(Waiter& waiter) { append(waiter); }
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

// A source of one stop, for one wait at a time, as std::stop_source and std::stop_callback: the callback runs
// once, on the thread of request() or where it is made after that, and its destructor waits for one that runs
// elsewhere.
class Stop {
 public:
  template <class F>
  class Callback {
   public:
    Callback(Stop& stop, const F& function) : stop_(stop) { stop_.add(&function, &Callback::call); }
    ~Callback() { stop_.remove(); }
    Callback(const Callback&) = delete;
    Callback& operator=(const Callback&) = delete;

   private:
    static void call(const void* function) { (*static_cast<const F*>(function))(); }

    Stop& stop_;
  };

  bool isRequested() const { return isRequested_.load(std::memory_order_acquire) != 0; }

  void request() {
    lock_.lock();
    isRequested_.store(1, std::memory_order_release);
    const void* const function = function_.get();
    function_.set(nullptr);
    isRunning_.store(function != nullptr ? 1 : 0, std::memory_order_relaxed);
    lock_.unlock();
    if (function != nullptr) {
      call_(function);
      isRunning_.store(0, std::memory_order_release);
    }
  }

 private:
  void add(const void* function, void (*call)(const void*)) {
    lock_.lock();
    const bool isLate = isRequested_.load(std::memory_order_relaxed) != 0;
    if (!isLate) {
      function_.set(function);
      call_ = call;
    }
    lock_.unlock();
    if (isLate) {
      isOfWaiter = true;
      call(function);
      isOfWaiter = false;
    }
  }
  void remove() {
    lock_.lock();
    function_.set(nullptr);
    lock_.unlock();
    while (isRunning_.load(std::memory_order_acquire) != 0) {
      RelacySync::pause();
    }
  }

 public:
  bool isOfWaiter = false;  // while the callback runs on the thread that waits; only then is it written

 private:
  RelacySync::Lock lock_;
  RelacySync::Atomic<int> isRequested_{0}, isRunning_{0};
  RelacySync::Var<const void*> function_;
  void (*call_)(const void*) = nullptr;
};

// How the models block, as BlockHost and its like. Its time may be up at any moment.
struct TimedHost {
  static void block(Waiter& self) { self.block(); }
  static bool blockUntil(Waiter& self) { return self.blockUntilSomeTime(); }
};
struct StoppableHost {
  void block(Waiter& self) const { self.block(); }
  bool blockUntil(Waiter& self) const {
    if (isTimed) {
      return self.blockUntilSomeTime();
    }
    self.block();
    return true;
  }
  static void wake(Waiter& waiter) { waiter.wake(); }
  bool isOwn(const Waiter&) const { return stop.isOfWaiter; }
  template <class F>
  Stop::Callback<F> onStop(const F& function) const {
    return Stop::Callback<F>(stop, function);
  }

  Stop& stop;
  bool isTimed = false;
};

// For waits for a lock: as one that is woken, but is able to run only once `mayRun` is set.
template <class Host>
struct SlowHost : Host {
  explicit SlowHost(RelacySync::Atomic<int>& flag) : mayRun(flag) {}
  void block(Waiter& waiter) const {
    waiter.block();
    while (mayRun.load(std::memory_order_relaxed) == 0) {
      RelacySync::pause();
    }
  }
  bool blockUntil(Waiter& waiter, detail::TimePoint) const {
    block(waiter);
    return true;
  }
  bool blockAtFirst(Waiter& waiter) const { return blockUntil(waiter, detail::TimePoint()); }
  RelacySync::Atomic<int>& mayRun;
};

// How a wait in a model may end, but by a wake.
enum class Limit { None, Time, Stop, TimeAndStop };

constexpr bool mayStop(Limit limit) { return limit == Limit::Stop || limit == Limit::TimeAndStop; }

// Returns: the limit of a wait that comes after one with `limit` has ended without a wake. A stop ends only
// one.
inline Limit limitAgain(Limit limit, const Stop& stop) {
  return mayStop(limit) && stop.isRequested() ? Limit::Time : limit;
}

// As blockQueued(): waits, queued in `core`, not beyond `limit`. Returns: whether it was woken.
template <class Core>
bool blockQueued(Waiter& self, Core& core, Limit limit, Stop& stop) {
  const auto giveUp = [&] { return core.giveUp(self); };
  switch (limit) {
    case Limit::None:
      self.block();
      return true;
    case Limit::Time:
      return detail::blockOrGiveUp(self, TimedHost(), giveUp);
    default:
      return detail::blockStoppableBy<RelacySync>(self, StoppableHost{stop, limit == Limit::TimeAndStop},
                                                  giveUp) == detail::WaitEnd::Woken;
  }
}

}  // namespace weft::model
