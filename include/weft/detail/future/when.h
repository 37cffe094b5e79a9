// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/detail/future/handle.h"
#include "weft/detail/future/state.h"
#include "weft/future/future.h"

// How whenAll() and whenAny() are done.
namespace weft::inline v0_1 {

template <class Futures>
struct WhenAnyResult;

namespace detail {

// The awaited futures, a listener for each, and the result. Each listener holds a reference until it was told
// or has left, and the thread that makes them listen until that is done. Losers of whenAny() leave futures
// that are not ready.
template <class Futures, class Result, bool kAll>
class WhenState final : public FutureState<Result> {
 public:
  explicit WhenState(size_t count)
      : FutureState<Result>(&invokeThis, static_cast<uint32_t>(count) + 2),
        listeners_(std::make_unique<Listener[]>(count)),
        left_(kAll ? count + 1 : 2) {}

  // To be filled before begin(), or else the state is destroyed.
  Futures& futures() { return futures_; }

  // The last step to the result is this thread's own: nobody may take the futures while it looks at them.
  // Returns: the future of this state.
  Future<Result> begin() {
    Future<Result> future = FutureAccess::make(static_cast<FutureState<Result>*>(this));
    size_t count = 0;
    forEach(futures_, [&](const FutureHandle& each) {
      Listener& listener = listeners_[count];
      listener.state = this;
      listener.index = count++;
      FutureAccess::checkedCore(each, kAll ? "whenAll" : "whenAny").tellWhenReady(listener);
    });
    if (count == 0 || step()) {
      finish();
      this->complete();
    } else {
      this->release();
    }
    return future;
  }

 private:
  struct Listener : LeavingListener {
    Listener() : LeavingListener(&Listener::tell) {}

    static void tell(TaskNode* node, TaskOp) {
      auto& self = *static_cast<Listener*>(node);
      TaskNode* answer = self.next;
      WhenState& state = *self.state;
      if (state.arrives(self.index)) {
        state.finish();
        answer->next = &state;
      } else {
        state.release();
      }
    }

    WhenState* state = nullptr;
    size_t index = 0;
  };

  template <class Each>
  static void forEach(const std::vector<Each>& futures, const auto& f) {
    for (const Each& each : futures) {
      f(each);
    }
  }
  template <class... Each>
  static void forEach(const std::tuple<Each...>& futures, const auto& f) {
    std::apply([&](const Each&... each) { (f(each), ...); }, futures);
  }

  // Returns: whether the result can be made.
  bool arrives(size_t index) {
    if constexpr (!kAll) {
      size_t none = kNone;
      // relaxed: step() publishes it.
      if (!winner_.compare_exchange_strong(none, index, std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
        return false;
      }
    }
    return step();
  }

  bool step() {
    // (1) acq_rel: the last one sees what all did before; pairs with (1).
    return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // All listeners listen by now, and the futures are still here.
  void leaveLosers() {
    // relaxed: seen by step().
    const size_t winner = winner_.load(std::memory_order_relaxed);
    size_t index = 0;
    forEach(futures_, [&](const FutureHandle& each) {
      if (index != winner && FutureAccess::core(each)->forget(listeners_[index])) {
        this->release();
      }
      ++index;
    });
  }

  void finish() {
    if constexpr (!kAll) {
      leaveLosers();
    }
    this->outcome.capture([&]() -> Result {
      if constexpr (kAll) {
        return std::move(futures_);
      } else {
        // relaxed: seen by step().
        return {winner_.load(std::memory_order_relaxed), std::move(futures_)};
      }
    });
  }

  static void invokeThis(TaskNode* node, TaskOp) {
    NodeMemory<WhenState>::destroy(*static_cast<WhenState*>(node));
  }

  static constexpr size_t kNone = static_cast<size_t>(-1);

  Futures futures_;
  std::unique_ptr<Listener[]> listeners_;
  std::atomic<size_t> left_;           // steps to the result; the last is this thread's, or a listener's
  std::atomic<size_t> winner_{kNone};  // of whenAny: set once, by the first listener
};

// Calls fill(futures) once all memory is allocated, so that an exception leaves the futures where they are.
template <bool kAll, class Futures, class Fill>
auto when(size_t count, const Fill& fill) {
  using Result = std::conditional_t<kAll, Futures, WhenAnyResult<Futures>>;
  using State = WhenState<Futures, Result, kAll>;
  struct Destroy {
    void operator()(State* state) const { NodeMemory<State>::destroy(*state); }
  };
  std::unique_ptr<State, Destroy> state(detail::makeState<State>(count));
  fill(state->futures());
  return state.release()->begin();
}

template <class T>
inline constexpr bool kIsFuture = std::derived_from<std::remove_cvref_t<T>, FutureHandle>;

// Whether these arguments are a range, or its two ends.
template <class... Args>
inline constexpr bool kAreRange = false;
template <std::ranges::input_range Range>
inline constexpr bool kAreRange<Range> = !kIsFuture<Range>;
template <class Iterator, class End>
inline constexpr bool kAreRange<Iterator, End> = std::input_iterator<std::decay_t<Iterator>> &&
                                                 std::sentinel_for<std::decay_t<End>, std::decay_t<Iterator>>;

// Checks that each argument is a future that can be moved or copied into the tuple.
template <class... Futures>
constexpr bool assertTakenOver() {
  constexpr bool kAreFutures = (kIsFuture<Futures> && ...);
  constexpr bool kIsTakenOver = (std::is_constructible_v<std::decay_t<Futures>, Futures> && ...);
  static_assert(
      kAreFutures,
      "whenAll() and whenAny() take futures, or one range of futures: here is an argument of another "
      "type. Write whenAll(std::move(a), std::move(b)) or whenAll(vector). "
      "What is no future may be given as makeReadyFuture(value).");
  static_assert(kIsTakenOver || !kAreFutures,
                "whenAll() and whenAny() take futures over. "
                "Write whenAll(std::move(a), std::move(b)), or share() those that are needed elsewhere.");
  return kAreFutures && kIsTakenOver;
}

template <bool kAll, class... Futures>
auto whenEach(Futures&&... futures) {
  if constexpr (detail::assertTakenOver<Futures...>()) {
    return detail::when<kAll, std::tuple<std::decay_t<Futures>...>>(
        sizeof...(Futures), [&](auto& taken) { taken = {std::forward<Futures>(futures)...}; });
  } else {
    return Future<void>();
  }
}

// Checks that the elements of a range are futures, which can be moved or copied out of it.
template <class Reference>
constexpr bool assertFutures() {
  constexpr bool kAreFutures = kIsFuture<Reference>;
  using Each = std::remove_cvref_t<Reference>;
  constexpr bool kCanBeTaken = !kAreFutures || std::is_copy_constructible_v<Each> ||
                               !std::is_const_v<std::remove_reference_t<Reference>>;
  static_assert(kAreFutures, "whenAll() and whenAny() take a range of futures: this one has other elements.");
  static_assert(kCanBeTaken,
                "whenAll() and whenAny() move futures out of the range, and cannot do so where it is const, "
                "as a list in braces is. Give them a std::vector that is not const, or share() the futures.");
  return kAreFutures && kCanBeTaken;
}

// Moves futures out of a range, and copies those that may be copied.
template <bool kAll, class Iterator, class End>
auto takeRange(Iterator begin, const End& end) {
  using Each = std::iter_value_t<Iterator>;
  using Futures = std::vector<Each>;
  const auto collect = [&](Futures& futures) {
    for (; begin != end; ++begin) {
      if constexpr (std::is_copy_constructible_v<Each>) {
        futures.push_back(*begin);
      } else {
        futures.push_back(std::move(*begin));
      }
    }
  };
  if constexpr (std::forward_iterator<Iterator> || std::sized_sentinel_for<End, Iterator>) {
    const auto count = static_cast<size_t>(std::ranges::distance(begin, end));
    return detail::when<kAll, Futures>(count, [&](Futures& futures) {
      futures.reserve(count);
      collect(futures);
    });
  } else {
    Futures collected;
    collect(collected);
    return detail::when<kAll, Futures>(collected.size(),
                                       [&](Futures& futures) { futures = std::move(collected); });
  }
}

template <bool kAll, class Iterator, class End>
auto whenRange(Iterator begin, const End& end) {
  if constexpr (detail::assertFutures<std::iter_reference_t<Iterator>>()) {
    return detail::takeRange<kAll>(std::move(begin), end);
  } else {
    return Future<void>();
  }
}

}  // namespace detail

}  // namespace weft::inline v0_1
