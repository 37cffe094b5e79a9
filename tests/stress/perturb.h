// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// What the compiler reads before each source of the library and of the unit tests, where WEFT_STRESS is set.
// Their std::atomic, std::atomic_ref, std::mutex and std::condition_variable, and their calls of futex, then
// wait now and then. So threads meet in windows of a few instructions, which the system hardly ever opens.
//
// The sources are in namespace weft, where `std` is looked up first as weft::std. This file declares that
// namespace: the names in it are found, and all others in ::std, which it uses. choices.txt has the few
// changes of the sources that this does not reach.
//
// Where a thread waits, and for how long, is drawn from the seed and the number of the thread. The seed is
// WEFT_STRESS_SEED; 0 means that nothing waits, and without it the seed comes from the clock. The first line
// that a program prints has it. With the same seed the same is drawn, but the system goes on choosing which
// thread runs, so that a failure may need several tries.
//
// Each place in the code, on each thread, waits nearly every time at first, and half as often after each
// time. So a place that is seldom reached waits often, and one that is reached a million times costs little.
#pragma GCC system_header

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "seeded.h"

#define WEFT_STRESS 1

namespace weft::stress {

// A place in the code, which is known by the address to which this returns. The thread may wait there.
void point() noexcept;

// Returns: true one time of `n`; never, where nothing is disturbed.
bool chance(uint64_t n) noexcept;

// Returns: a number less than `n`; `usual`, where nothing is disturbed.
uint64_t choose(uint64_t usual, uint64_t n) noexcept;

// Waits as long as a thread does that the system has put aside. Keeps errno.
void holdBack() noexcept;

// Returns: `sleeper` or an older one.
template <class Sleeper>
Sleeper& oneOf(Sleeper& sleeper) {
  Sleeper* chosen = &sleeper;
  while (chosen->older != nullptr && chance(2)) {
    chosen = chosen->older;
  }
  return *chosen;
}

constexpr ::std::memory_order orderOfFailure(::std::memory_order order) {
  return order == ::std::memory_order_acq_rel   ? ::std::memory_order_acquire
         : order == ::std::memory_order_release ? ::std::memory_order_relaxed
                                                : order;
}

}  // namespace weft::stress

namespace weft::std {

using namespace ::std;

#define WEFT_STRESS_INLINE [[gnu::always_inline]] inline

// An operation of an atomic object, between two places.
#define WEFT_STRESS_MODIFY(name)                                                                 \
  template <class Operand>                                                                       \
  WEFT_STRESS_INLINE auto name(Operand operand,                                                  \
                               ::std::memory_order order = ::std::memory_order_seq_cst) noexcept \
    requires requires(Base& base) { base.name(operand, order); }                                 \
  {                                                                                              \
    stress::point();                                                                             \
    const auto result = Base::name(operand, order);                                              \
    stress::point();                                                                             \
    return result;                                                                               \
  }

template <class T>
class atomic : public ::std::atomic<T> {
  using Base = ::std::atomic<T>;

 public:
  constexpr atomic() noexcept = default;
  constexpr atomic(T value) noexcept : Base(static_cast<T&&>(value)) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  WEFT_STRESS_INLINE T operator=(T value) noexcept {
    store(value);
    return value;
  }
  WEFT_STRESS_INLINE operator T() const noexcept { return load(); }
  WEFT_STRESS_INLINE T load(::std::memory_order order = ::std::memory_order_seq_cst) const noexcept {
    stress::point();
    return Base::load(order);
  }
  WEFT_STRESS_INLINE void store(T value, ::std::memory_order order = ::std::memory_order_seq_cst) noexcept {
    stress::point();
    Base::store(static_cast<T&&>(value), order);
    stress::point();
  }
  WEFT_STRESS_INLINE T exchange(T value, ::std::memory_order order = ::std::memory_order_seq_cst) noexcept {
    stress::point();
    T before = Base::exchange(static_cast<T&&>(value), order);
    stress::point();
    return before;
  }
  WEFT_STRESS_INLINE bool compare_exchange_strong(T& expected, T value, ::std::memory_order success,
                                                  ::std::memory_order failure) noexcept {
    stress::point();
    const bool isDone = Base::compare_exchange_strong(expected, static_cast<T&&>(value), success, failure);
    stress::point();
    return isDone;
  }
  WEFT_STRESS_INLINE bool compare_exchange_strong(
      T& expected, T value, ::std::memory_order order = ::std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, static_cast<T&&>(value), order, stress::orderOfFailure(order));
  }
  // May fail for no reason, as it may on other processors.
  WEFT_STRESS_INLINE bool compare_exchange_weak(T& expected, T value, ::std::memory_order success,
                                                ::std::memory_order failure) noexcept {
    if (stress::chance(16)) {
      expected = load(failure);
      return false;
    }
    return compare_exchange_strong(expected, static_cast<T&&>(value), success, failure);
  }
  WEFT_STRESS_INLINE bool compare_exchange_weak(
      T& expected, T value, ::std::memory_order order = ::std::memory_order_seq_cst) noexcept {
    return compare_exchange_weak(expected, static_cast<T&&>(value), order, stress::orderOfFailure(order));
  }
  WEFT_STRESS_MODIFY(fetch_add)
  WEFT_STRESS_MODIFY(fetch_sub)
  WEFT_STRESS_MODIFY(fetch_and)
  WEFT_STRESS_MODIFY(fetch_or)
  WEFT_STRESS_MODIFY(fetch_xor)
};

template <class T>
class atomic_ref : public ::std::atomic_ref<T> {
  using Base = ::std::atomic_ref<T>;

 public:
  explicit atomic_ref(T& value) noexcept : Base(value) {}
  atomic_ref(const atomic_ref&) noexcept = default;
  atomic_ref& operator=(const atomic_ref&) = delete;

  WEFT_STRESS_INLINE T load(::std::memory_order order = ::std::memory_order_seq_cst) const noexcept {
    stress::point();
    return Base::load(order);
  }
  WEFT_STRESS_INLINE void store(T value,
                                ::std::memory_order order = ::std::memory_order_seq_cst) const noexcept {
    stress::point();
    Base::store(value, order);
    stress::point();
  }
};

class mutex : public ::std::mutex {
 public:
  constexpr mutex() noexcept = default;
  void lock() {
    stress::point();
    ::std::mutex::lock();
    stress::point();
  }
  bool try_lock() {
    stress::point();
    return ::std::mutex::try_lock();
  }
  void unlock() {
    stress::point();
    ::std::mutex::unlock();
    stress::point();
  }
};

// May wake for no reason.
class condition_variable {
 public:
  using Lock = ::std::unique_lock<mutex>;

  condition_variable() = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  void notify_one() noexcept {
    stress::point();
    variable_.notify_one();
  }
  void notify_all() noexcept {
    stress::point();
    variable_.notify_all();
  }
  void wait(Lock& lock) {
    if (!stress::chance(8)) {
      Inner inner(lock);
      variable_.wait(inner.lock);
    }
    stress::point();
  }
  template <class Predicate>
  void wait(Lock& lock, Predicate predicate) {
    while (!predicate()) {
      wait(lock);
    }
  }
  // With or without a predicate.
  template <class TimePoint, class... Predicate>
  auto wait_until(Lock& lock, const TimePoint& time, Predicate... predicate) {
    Inner inner(lock);
    return variable_.wait_until(inner.lock, time, predicate...);
  }
  template <class Duration, class... Predicate>
  auto wait_for(Lock& lock, const Duration& time, Predicate... predicate) {
    Inner inner(lock);
    return variable_.wait_for(inner.lock, time, predicate...);
  }

 private:
  // The lock as the standard library knows it.
  struct Inner {
    explicit Inner(Lock& outer) : lock(*outer.mutex(), ::std::adopt_lock) {}
    ~Inner() { lock.release(); }
    ::std::unique_lock<::std::mutex> lock;
  };

  ::std::condition_variable variable_;
};

[[gnu::always_inline]] inline void atomic_thread_fence(::std::memory_order order) noexcept {
  stress::point();
  ::std::atomic_thread_fence(order);
  stress::point();
}

#undef WEFT_STRESS_MODIFY
#undef WEFT_STRESS_INLINE

}  // namespace weft::std

namespace weft::inline v0_1 {

// What the library calls without a namespace is found here first.
template <class... Arguments>
long syscall(long number, Arguments... arguments) {
  stress::point();
  const long result = ::syscall(number, arguments...);
  const int error = errno;
  stress::point();
  errno = error;
  return result;
}

// A futex: a sleep may end for no reason before it begins, a thread that was woken is held back, and a wake
// comes late. No sleep ends early later on: that would mend a wake that was lost.
inline long syscall(long number, std::atomic<uint32_t>* word, int operation, uint32_t value,
                    const timespec* deadline, ::std::nullptr_t, unsigned mask) {
  const bool isSleep = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
  if (isSleep && stress::chance(8)) {
    errno = EINTR;
    return -1;
  }
  if (stress::chance(8)) {
    stress::holdBack();
  }
  const long result = ::syscall(number, word, operation, value, deadline, nullptr, mask);
  if (isSleep && stress::chance(4)) {
    stress::holdBack();
  }
  return result;
}

}  // namespace weft::inline v0_1
