// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <new>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/node_pool.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/forkjoin/ticket_node.h"
#include "weft/export.h"
#include "weft/memory.h"
#include "weft/task.h"

namespace weft::inline v0_1 {

// A place in a queue, to put work in order that runs in parallel. A ticket is called when all tickets that
// were taken before it are done.
//
//   weft::Ticket::Queue queue;
//   for (const auto& frame : frames) {
//     weft::schedule([&frame, ticket = queue.take()] {
//       auto picture = decode(frame);  // at the same time as others
//       ticket.wait();
//       show(picture);  // one at a time, in the order of take()
//       ticket.done();
//     });
//   }
//   queue.take().wait();
// A handle: copies are one ticket. If no copy has called done(), the destructor of the last one does. If a
// ticket is done before it is called, its call passes on to the next ticket.
// Lifetime: tickets may outlive their queue.
class Ticket {
 public:
  // A function that onCall() can take. It takes any other callable too.
  using OnCall = std::function<void()>;
  class Queue;

  // Makes an object without a ticket, or copies or moves one. Without a ticket it may only be assigned to,
  // copied and destroyed.
  Ticket() noexcept = default;
  Ticket(const Ticket&) noexcept = default;
  Ticket(Ticket&&) noexcept = default;
  Ticket& operator=(const Ticket&) noexcept = default;
  // Moves. `volatile` only keeps clang from warning about marl's `ticket = std::move(queue.take())`.
  Ticket& operator=(volatile Ticket&& other) noexcept {
    state_ = std::move(const_cast<Ticket&>(other).state_);
    return *this;
  }
  ~Ticket() = default;

  // Suspends the fiber, or blocks the thread, until the ticket is called.
  // Requires: there is a ticket.
  // Memory ordering: afterwards the caller sees what was written before the done() of each earlier ticket.
  void wait() const {
    State& state = checked("wait");
    if (!state.isCalled()) {
      state.wait();
    }
  }

  // Calls the next ticket once this one is called. Only the first done() counts. Neither suspends nor blocks.
  // Requires: there is a ticket. If a function of onCall() must be scheduled, a scheduler is bound.
  void done() const {
    State& state = checked("done");
    State::follow(state, state.done());
  }

  // Schedules `function` when the ticket is called, or now if it was called already. The task runs on the
  // scheduler of the thread whose done() calls the ticket. Functions that were given before the call run in
  // their order, one after the other, in one task. Neither suspends nor blocks.
  // Requires: there is a ticket.
  // Memory ordering: as for wait().
  template <class F>
  void onCall(F&& function) const {
    constexpr bool kCanBeCalled = std::is_constructible_v<Task, F>;
    static_assert(kCanBeCalled, "Ticket::onCall(f): f cannot be called without arguments.");
    if constexpr (kCanBeCalled) {
      State& state = checked("onCall");
      detail::TaskNode* node = Task(std::forward<F>(function)).release();
      if (node == nullptr) [[unlikely]] {
        detail::reportEmptyFunction("Ticket::onCall()");
      }
      state.onCall(node);
    }
  }

 private:
  struct State : detail::SharedState, detail::TicketNode<detail::TaskNode> {
    State() : SharedState(nullptr) {}
    explicit State(State* after) : SharedState(nullptr), TicketNode(after) {}

    // Called by Shared.
    void release() noexcept {
      if (releaseReference(false)) {
        follow(*this, drop());
      }
    }
    // Does what a step on `state` left to do.
    static void follow(State& state, const Outcome& outcome) {
      if (outcome.isOver) {
        free(state);
      }
      if (outcome.toCall != nullptr) {
        callFrom(static_cast<State*>(outcome.toCall));
      }
    }
    static void free(State& state) noexcept {
      state.~State();
      detail::freeNode(&state, detail::NodeSize::Line);
    }

    WEFT_EXPORT static void callFrom(State* state);
    WEFT_EXPORT void wait();
    WEFT_EXPORT void onCall(detail::TaskNode* node);
  };
  static_assert(sizeof(State) <= detail::kLine);

  explicit Ticket(State* state) noexcept : state_(detail::Shared<State>::adopt(state)) {}

  State& checked(const char* function) const {
    WEFT_ASSERT(state_.get() != nullptr,
                "Ticket::%s() was called on no ticket: it was made by Ticket(), or moved from. "
                "Take one from a Ticket::Queue.",
                function);
    return *state_;
  }

  detail::Shared<State> state_;
};

// Hands out tickets in order. Any thread may call its functions, which neither suspend nor block.
class Ticket::Queue {
 public:
  Queue() noexcept = default;
  ~Queue() {
    // (2) acquire: sees the newest ticket; pairs with (1).
    if (State* newest = newest_.load(std::memory_order_acquire)) {
      State::follow(*newest, newest->link(nullptr));
    }
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Returns: the next ticket.
  Ticket take() {
    State* state = ::new (detail::allocateNode(detail::NodeSize::Line)) State();
    append(*state, *state);
    return Ticket(state);
  }

  // Takes `count` tickets in a row, and calls function(Ticket&&) with each, in their order.
  template <class F>
  void take(size_t count, const F& function) {
    constexpr bool kCanBeCalled = std::is_invocable_v<const F&, Ticket>;
    static_assert(kCanBeCalled,
                  "Ticket::Queue::take(count, f): f is const and is called with each Ticket. "
                  "Write take(count, [&](weft::Ticket ticket) { ... }).");
    if constexpr (kCanBeCalled) {
      detail::assertCallable(function, "Ticket::Queue::take()");
      if (count == 0) {
        return;
      }
      Row rest(count);
      append(*rest.first, *rest.last);
      while (rest.first != nullptr) {
        function(rest.pop());
      }
    }
  }

 private:
  // Tickets that were taken and not handed out yet.
  struct Row {
    explicit Row(size_t count) {
      for (; count > 0; --count) {
        void* memory = detail::allocateNode(detail::NodeSize::Line);
        first = first == nullptr ? ::new (memory) State() : ::new (memory) State(first);
        last = last == nullptr ? first : last;
      }
    }
    ~Row() {
      while (first != nullptr) {
        pop();
      }
    }
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;

    Ticket pop() noexcept {
      return Ticket(std::exchange(first, first == last ? nullptr : static_cast<State*>(first->after())));
    }

    State* first = nullptr;
    State* last = nullptr;
  };

  void append(State& first, State& last) {
    // (1) acq_rel: publishes the ticket to the next one, and sees the one before; pairs with (1, 2).
    State* before = newest_.exchange(&last, std::memory_order_acq_rel);
    if (before != nullptr) [[likely]] {
      State::follow(*before, before->link(&first));
    } else {
      State::callFrom(&first);
    }
  }

  std::atomic<State*> newest_{nullptr};
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
