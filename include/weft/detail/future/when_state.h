// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/detail/base/outcome.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/future/handle.h"
#include "weft/detail/future/state.h"
#include "weft/detail/future/task_state.h"
#include "weft/detail/future/when_rules.h"
#include "weft/future/future.h"

// The state of one future that is made of several.
namespace weft::inline v0_1::detail {

// The awaited futures, a listener for each, and the result. Each listener holds a reference until it was told
// or has left, and the thread that makes them listen until that is done. Where one future decides, the losers
// leave futures that are not ready.
template <class Rule, class Futures, class Source>
class WhenState final : public FutureState<typename Rule::template Result<Futures>> {
  using Result = typename Rule::template Result<Futures>;
  static constexpr bool kEndsLosers = Rule::kLooks || !std::same_as<Source, NoSource>;

 public:
  WhenState(size_t count, Source source)
      : FutureState<Result>(&invokeThis, static_cast<uint32_t>(count) + 2),
        listeners_(std::make_unique<Listener[]>(count)),
        left_(Rule::kOneDecides ? 2 : count + 1),
        undecided_{count},
        source_(std::move(source)) {}

  // To be filled before begin(), or else the state is destroyed.
  Futures& futures() { return futures_; }

  // The last step to the result is this thread's own: nobody may take the futures while it looks at them.
  // Returns: the future of this state.
  Future<Result> begin() {
    Future<Result> future = FutureAccess::make(static_cast<FutureState<Result>*>(this));
    size_t count = 0;
    forEach(futures_, [&](const auto& each) {
      FutureCore& core = FutureAccess::checkedCore(each, Rule::kName);
      Listener& listener = listeners_[count];
      listener.state = this;
      listener.index = count++;
      if constexpr (Rule::kLooks) {
        core.retain();
        listener.look.core = Shared<FutureCore>::adopt(&core);
        listener.look.error = &FutureAccess::error(each);
      }
      core.tellWhenReady(listener);
    });
    if (count == 0 || step()) {
      finish(nullptr);
      this->complete();
    } else {
      this->release();
    }
    return future;
  }

 private:
  // The outcome of a future, which the listener keeps until it has looked: the futures may be gone by then.
  struct Look {
    Shared<FutureCore> core;
    const EscapedException* error = nullptr;
  };
  struct Nothing {};

  struct Listener : LeavingListener {
    Listener() : LeavingListener(&Listener::tell) {}

    static void tell(TaskNode* node, TaskOp) {
      auto& self = *static_cast<Listener*>(node);
      auto& loop = static_cast<TellLoop&>(*self.next);
      WhenState& state = *self.state;
      if (state.arrives(self)) {
        state.finish(&loop);
        loop.next = &state;
      } else {
        state.release();
      }
    }

    WhenState* state = nullptr;
    size_t index = 0;
    [[no_unique_address]] std::conditional_t<Rule::kLooks, Look, Nothing> look;
  };

  // How many futures have not been ready, or have decided.
  struct Undecided {
    // Returns: whether no other is left.
    bool isLast() {
      // (2) acq_rel: the last one sees that the others have looked; pairs with (2).
      return count.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
    std::atomic<size_t> count;
  };
  struct Uncounted {
    explicit(false) Uncounted(size_t) {}
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
  bool arrives(Listener& listener) {
    if constexpr (Rule::kLooks) {
      const bool hasFailed = static_cast<bool>(*listener.look.error);
      listener.look.core = {};
      if (hasFailed != Rule::kFailureDecides && !undecided_.isLast()) {
        return false;
      }
    }
    if constexpr (Rule::kOneDecides) {
      size_t none = kNone;
      // relaxed: step() publishes it.
      if (!winner_.compare_exchange_strong(none, listener.index, std::memory_order_relaxed,
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
  void leaveLosers(size_t winner) {
    size_t index = 0;
    forEach(futures_, [&](const FutureHandle& each) {
      Listener& listener = listeners_[index];
      if (index++ != winner && FutureAccess::core(each)->forget(listener)) {
        if constexpr (Rule::kLooks) {
          listener.look.core = {};
        }
        this->release();
      }
    });
  }

  // `loop`: that tells the listeners, if it is one that finishes.
  void finish(TellLoop* loop) {
    if constexpr (Rule::kOneDecides) {
      // relaxed: seen by step().
      const size_t winner = winner_.load(std::memory_order_relaxed);
      leaveLosers(winner);
      [[maybe_unused]] const bool isDecided = setResult(winner);
      if constexpr (kEndsLosers) {
        std::optional<ProgramCall> call;
        if (loop != nullptr) {
          call.emplace(*loop);
        }
        endLosers(isDecided);
      }
    } else {
      this->outcome.capture([&]() -> Result { return std::move(futures_); });
    }
  }

  // What is called at the stop, and the destructors of values, are the program's.
  void endLosers(bool isDecided) {
    if (isDecided) {
      source_.requestStop();
    }
    futures_ = Futures();
  }

  // Returns: whether a future has decided.
  bool setResult(size_t winner) {
    if constexpr (!Rule::kLooks) {
      this->outcome.capture([&]() -> Result { return {winner, std::move(futures_)}; });
      return winner != kNone;
    } else {
      bool hasFailed = false;
      size_t index = 0;
      forEach(futures_, [&]<class Each>(const Each& each) {
        if (index++ == winner) {
          hasFailed = static_cast<bool>(FutureAccess::error(each));
          if constexpr (!Rule::kFailureDecides) {
            Unwrapped<Each>::take(this->outcome, each);
          } else if (hasFailed) {
            this->outcome.error().set(FutureAccess::error(each).pointer());
          }
        }
      });
      if constexpr (Rule::kFailureDecides) {
        if (!hasFailed) {
          this->outcome.capture([&]() -> Result { return std::move(futures_); });
        }
      } else if (winner == kNone) {
        detail::setNoFutures(this->outcome.error());
      }
      return winner != kNone && hasFailed == Rule::kFailureDecides;
    }
  }

  static void invokeThis(TaskNode* node, TaskOp) {
    NodeMemory<WhenState>::destroy(*static_cast<WhenState*>(node));
  }

  static constexpr size_t kNone = static_cast<size_t>(-1);

  Futures futures_;
  std::unique_ptr<Listener[]> listeners_;
  std::atomic<size_t> left_;           // steps to the result; the last is this thread's, or a listener's
  std::atomic<size_t> winner_{kNone};  // of those that decide: set once, by the first listener
  // Every listener decrements it whose future does not decide.
  [[no_unique_address]] std::conditional_t<Rule::kLooks, Undecided, Uncounted> undecided_;
  [[no_unique_address]] Source source_;
};

}  // namespace weft::inline v0_1::detail
