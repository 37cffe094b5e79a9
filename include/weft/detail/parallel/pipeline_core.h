// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/conditionvariable.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/mutex.h"
#include "weft/parallel/stage.h"
#include "weft/tsa.h"

namespace weft::inline v0_1::detail {

// Lets one item at a time pass, in a Serial stage the one whose turn it is.
class StageGate {
 public:
  // Returns: false if the pipeline has stopped.
  bool enter(StageOrder order, uint64_t item) {
    std::unique_lock<mutex> guard(mutex_);
    changed_.wait(guard,
                  [&] { return isStopped_ || (!isBusy_ && (order != StageOrder::Serial || item == turn_)); });
    isBusy_ = true;
    return !isStopped_;
  }
  void leave() {
    {
      const std::lock_guard<mutex> guard(mutex_);
      isBusy_ = false;
      ++turn_;
    }
    changed_.notify_all();
  }
  void stop() {
    {
      const std::lock_guard<mutex> guard(mutex_);
      isStopped_ = true;
    }
    changed_.notify_all();
  }

 private:
  mutex mutex_;
  ConditionVariable changed_;
  uint64_t turn_ = 0;
  bool isBusy_ = false;
  bool isStopped_ = false;
};

// A token is a fiber that fetches an item, takes it through all stages, and comes back for the next. It waits
// at a stage for the turn of its item. The item whose turn it is waits for no other item, so that all get on.
// After each stage, where the token holds no lock, other fibers and tasks of its thread have their turn. A
// token that has its first item pushes the next token: there are no more tokens than items.
// Once a stop is requested, tokens fetch no more items.
template <class Stop, class... Stages>
class Pipeline {
 public:
  Pipeline(Stop stop, std::tuple<Stages&...> stages) : stages_(stages), stop_(stop) {}

  void run(size_t numTokens) {
    tokensLeft_ = numTokens - 1;
    runToken();
    thrown_.rethrow();
  }

 private:
  static constexpr size_t kNumStages = sizeof...(Stages);

  template <size_t kIndex>
  using StageAt = std::tuple_element_t<kIndex, std::tuple<Stages...>>;

  struct Token {
    void operator()() const { pipeline.runToken(); }
    Pipeline& pipeline;
  };

  // If a stage, or a move of an item, throws, the pipeline ends: no item may wait for one that is gone.
  void runToken() {
    LocalDeque* const local = ownLocalDeque();
    const Token token{*this};
    Child<const Token> next(token);
    bool hasNext = local == nullptr;
    bool hasForked = false;
    uint64_t item = 0;
    capture(item, [&] {
      for (;;) {
        bool mayHaveNext = false;
        auto made = fetch(item, hasNext ? nullptr : &mayHaveNext);
        if (!made) {
          return;
        }
        if (mayHaveNext) {
          hasNext = true;
          local->fork(next);
          hasForked = true;
        }
        detail::letOthersRunInTurn();
        pass<1>(item, *std::move(made));
      }
    });
    if (hasForked) {
      LateException none;  // since a token keeps what it throws in the pipeline
      next.complete(local, none);
    }
  }

  // Returns: the item that the first stage makes, and its number in `item`; nothing at the end. `next`, if
  // not null, is set to whether a further token may run.
  auto fetch(uint64_t& item, bool* next) WEFT_NO_THREAD_SAFETY_ANALYSIS {
    using Made = std::invoke_result_t<decltype(StageAt<0>::function)&>;
    Made made{};
    sourceMutex_.lock();
    detail::callAndEnd([&] { fetchInto(made, item, next); },
                       [this]() WEFT_NO_THREAD_SAFETY_ANALYSIS { sourceMutex_.unlock(); });
    return made;
  }

  template <class Made>
  void fetchInto(Made& made, uint64_t& item, bool* next) {
    if (hasEnded_ || isStopped() || stop_.isStopped()) {
      return;
    }
    item = numMade_++;
    hasEnded_ = true;  // stays true if the stage throws
    made = std::get<0>(stages_).function();
    hasEnded_ = !made || isStopped();
    if (hasEnded_) {
      made = Made{};
    } else if (next != nullptr && tokensLeft_ != 0) {
      --tokensLeft_;
      *next = true;
    }
  }

  template <size_t kIndex, class T>
  void pass(uint64_t item, T&& value) {
    if constexpr (kIndex < kNumStages) {
      using Result = std::invoke_result_t<decltype(StageAt<kIndex>::function)&, T>;
      Outcome<Result> outcome;
      if (call<kIndex>(item, outcome, std::forward<T>(value))) {
        if constexpr (!std::is_void_v<Result>) {
          pass<kIndex + 1>(item, outcome.take());
        }
      }
    }
  }

  // Returns: false if the item goes no further.
  template <size_t kIndex, class Result, class T>
  bool call(uint64_t item, Outcome<Result>& outcome, T&& value) {
    constexpr StageOrder kOrder = StageAt<kIndex>::kOrder;
    StageGate& gate = gates_[kIndex];
    if (isStopped() || (kOrder != StageOrder::Parallel && !gate.enter(kOrder, item))) {
      return false;
    }
    const bool hasReturned = capture(item, [&] {
      outcome.capture([&]() -> Result { return std::get<kIndex>(stages_).function(std::forward<T>(value)); });
      outcome.rethrow();
    });
    if (kOrder != StageOrder::Parallel) {
      gate.leave();
    }
    detail::letOthersRunInTurn();
    return hasReturned;
  }

  // Keeps the exception of the earliest item. Reads `item` after `function` has thrown.
  // Returns: whether nothing was thrown.
  template <class F>
  bool capture(const uint64_t& item, F&& function) {
    EscapedException escaped;
    escaped.capture(std::forward<F>(function));
    if (!escaped) [[likely]] {
      return true;
    }
    {
      const std::lock_guard<mutex> guard(thrownMutex_);
      if (!thrown_ || item < thrownBy_) {
        thrown_ = std::move(escaped);
        thrownBy_ = item;
      }
    }
    // relaxed, here and below: it only keeps tokens from beginning further items and stages.
    isStopped_.store(true, std::memory_order_relaxed);
    for (StageGate& gate : gates_) {
      gate.stop();
    }
    return false;
  }

  bool isStopped() const { return isStopped_.load(std::memory_order_relaxed); }

  std::tuple<Stages&...> stages_;
  [[no_unique_address]] Stop stop_;
  StageGate gates_[kNumStages];
  mutex sourceMutex_;
  bool hasEnded_ = false;  // guarded by sourceMutex_
  uint64_t numMade_ = 0;   // guarded by sourceMutex_
  size_t tokensLeft_ = 0;  // that have not been pushed; guarded by sourceMutex_
  mutex thrownMutex_;
  EscapedException thrown_;             // guarded by thrownMutex_
  uint64_t thrownBy_ = 0;               // guarded by thrownMutex_
  std::atomic<bool> isStopped_{false};  // false -> true, by a token whose stage has thrown
};

}  // namespace weft::inline v0_1::detail
