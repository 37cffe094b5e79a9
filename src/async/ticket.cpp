// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/ticket.h"

#include <utility>

#include "async/waiting_listener.h"
#include "scheduler/worker/worker.h"
#include "weft/detail/wait/waiter.h"
#include "weft/scheduler.h"

namespace weft::inline v0_1 {
namespace {

using detail::TaskNode;
using detail::TaskOp;
using detail::WaitingListener;

// Several functions of one ticket, as one task. Between two of them others of this thread have their turn.
struct InOrder {
  explicit InOrder(TaskNode* node) : first(node) {}
  InOrder(InOrder&& other) noexcept : first(std::exchange(other.first, nullptr)) {}
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
  ~InOrder() {
    forEach(TaskOp::Discard, [] {});
  }

  void operator()() {
    forEach(TaskOp::Run, [] { detail::Worker::current()->localDeque().letOthersRunInTurn(); });
  }

  template <class F>
  void forEach(TaskOp op, F&& between) {
    while (first != nullptr) {
      TaskNode* node = std::exchange(first, first->next);
      node->invoke(node, op);
      if (first != nullptr) {
        between();
      }
    }
  }

  TaskNode* first;
};

void scheduleAll(TaskNode* first) {
  assert_has_bound_scheduler(
      "Ticket::done(), ~Ticket() or onCall(), which has to schedule a function that was given to onCall(),");
  detail::scheduleNode(first->next == nullptr ? first : Task(InOrder(first)).release());
}

void tell(TaskNode* listener) {
  TaskNode* first = nullptr;
  TaskNode** end = &first;
  while (listener != nullptr) {
    TaskNode* next = listener->next;
    if (WaitingListener::is(*listener)) {
      detail::wake(*static_cast<WaitingListener*>(listener)->waiter);
    } else {
      *end = listener;
      end = &listener->next;
    }
    listener = next;
  }
  *end = nullptr;
  if (first != nullptr) {
    scheduleAll(first);
  }
}

}  // namespace

// This is a loop, not a recursion: each ticket that was done before its turn passes the call on.
void Ticket::State::callFrom(State* state) {
  while (state != nullptr) {
    TaskNode* listeners = nullptr;
    const Outcome outcome = state->call(listeners);
    if (outcome.isOver) {
      free(*state);
    }
    tell(listeners);
    state = static_cast<State*>(outcome.toCall);
  }
}

void Ticket::State::wait() {
  detail::Waiter& self = detail::currentWaiter();
  WaitingListener listener(self);
  if (listen(&listener)) {
    detail::block(self, "Ticket", this);
  }
}

void Ticket::State::onCall(TaskNode* node) {
  if (!listen(node)) {
    node->next = nullptr;
    scheduleAll(node);
  }
}

}  // namespace weft::inline v0_1
