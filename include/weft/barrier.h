// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/wait/barrier_phase.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

namespace detail {

// A Barrier without its completion function.
class WEFT_EXPORT BarrierBase {
 public:
  explicit BarrierBase(ptrdiff_t expected);
  ~BarrierBase();

 protected:
  BarrierPhase<>::Arrival arriveBy(ptrdiff_t n, const char* function);
  void drop();
  void endPhase() noexcept;
  bool waitFor(const void* barrier, uint32_t phase, TimePoint deadline, const std::stop_token& token);

 private:
  friend struct LayoutAccess;
  BarrierPhase<> phase_;
  std::atomic<uint32_t> expected_;  // in the next phase; only falls
};

struct DoNothing {
  void operator()() const noexcept {}
};

}  // namespace detail

// Lets a fixed number of fibers and threads wait for each other, phase after phase. Named as std::barrier.
//
//   weft::Barrier barrier(4, [&]() noexcept { std::swap(now, next); });
//   for (int part = 0; part < 4; ++part) {
//     weft::schedule([&, part] {
//       for (int step = 0; step < 100; ++step) {
//         compute(now, next, part);
//         barrier.arrive_and_wait();  // by all four; then they are swapped, once
//       }
//     });
//   }
// The last arrival calls the completion function, before any waiter goes on. It may suspend, but not throw.
// Lifetime: may be destroyed once all waits have returned, even if the last arrival has not yet.
template <class CompletionFunction = detail::DoNothing>
class Barrier : private detail::BarrierBase {
  static_assert(std::is_invocable_v<CompletionFunction&>,
                "weft::Barrier(expected, f): f cannot be called without arguments.");

 public:
  // An arrival, to be passed to wait().
  class arrival_token {
   public:
    arrival_token(arrival_token&& other) noexcept
        : barrier_(std::exchange(other.barrier_, nullptr)), phase_(other.phase_) {}
    arrival_token& operator=(arrival_token&& other) noexcept {
      barrier_ = std::exchange(other.barrier_, nullptr);
      phase_ = other.phase_;
      return *this;
    }

   private:
    friend class Barrier;
    arrival_token(const void* barrier, uint32_t phase) : barrier_(barrier), phase_(phase) {}

    const void* barrier_;
    uint32_t phase_;
  };

  // Makes a barrier for `expected` arrivals in each phase. `function` is called at the end of each phase.
  // Requires: 0 <= expected < 2^31; otherwise a message ends the program.
  explicit Barrier(ptrdiff_t expected, CompletionFunction function = CompletionFunction())
      : BarrierBase(expected), function_(std::move(function)) {
    detail::assertCallable(function_, "Barrier()");
  }

  // Returns: the largest expected number.
  static constexpr ptrdiff_t max() noexcept { return detail::BarrierPhase<>::kMax; }

  // Arrives `n` times. Neither suspends nor blocks, except in the completion function.
  // Requires: at least `n` are still expected in this phase; otherwise a message ends the program.
  // Memory ordering: the completion function sees what was written before each arrive(). After wait() the
  // caller sees that, and what the completion function has written.
  [[nodiscard]] arrival_token arrive(ptrdiff_t n = 1) { return arriveAs(n, "arrive"); }

  // Suspends the fiber, or blocks the thread, until the phase of `arrival` has ended.
  // Requires: `arrival` is of this barrier, and was not moved from; otherwise a message ends the program.
  void wait(arrival_token&& arrival) {
    const arrival_token mine(std::move(arrival));
    waitWith(mine, detail::kNever, {});
  }

  // As wait(), but also ends at a stop of `token`, after `duration` or at `time`; never early by that clock.
  // Returns: false if one of these came first. The arrival then still counts, and may be waited with again.
  bool wait(const arrival_token& arrival, const std::stop_token& token) {
    return waitWith(arrival, detail::kNever, token);
  }
  template <class Rep, class Period>
  bool wait_for(const arrival_token& arrival, const std::chrono::duration<Rep, Period>& duration,
                const std::stop_token& token = {}) {
    return waitWith(arrival, detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  bool wait_until(const arrival_token& arrival, const std::chrono::time_point<Clock, Duration>& time,
                  const std::stop_token& token = {}) {
    return detail::waitUntilByClock(
        time, token, [&](detail::TimePoint deadline) { return waitWith(arrival, deadline, token); });
  }

  // Arrives once, then waits as wait() does.
  void arrive_and_wait() { wait(arriveAs(1, "arrive_and_wait")); }
  bool arrive_and_wait(const std::stop_token& token) { return wait(arriveAs(1, "arrive_and_wait"), token); }

  // Arrives, and is not expected any more in the phases after this one.
  void arrive_and_drop() {
    drop();
    arriveAs(1, "arrive_and_drop");
  }

 private:
  arrival_token arriveAs(ptrdiff_t n, const char* function) {
    const auto arrival = arriveBy(n, function);
    if (arrival.isLast) {
      complete();
    }
    return arrival_token(this, arrival.phase);
  }
  void complete() noexcept {
    if constexpr (std::is_nothrow_invocable_v<CompletionFunction&>) {
      function_();
    } else {
      detail::callOrDie([](void* function) { (*static_cast<CompletionFunction*>(function))(); },
                        std::addressof(function_), "the completion function of a weft::Barrier");
    }
    endPhase();
  }
  bool waitWith(const arrival_token& arrival, detail::TimePoint deadline, const std::stop_token& token) {
    return waitFor(arrival.barrier_, arrival.phase_, deadline, token);
  }

  CompletionFunction function_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
