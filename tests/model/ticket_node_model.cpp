// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/forkjoin/ticket_node.h>
#include <weft/detail/park/parker.h>

#include "explore.h"

// Seeded bug: forkjoin/ticket_node.h:1
// Seeded bug: forkjoin/ticket_node.h:1:split
// Seeded bug: forkjoin/ticket_node.h:2
// Seeded bug: forkjoin/ticket_node.h:2:split
// Seeded bug: forkjoin/ticket_node.h:3
// Seeded bug: forkjoin/ticket_node.h:3:split
// Seeded bug: forkjoin/ticket_node.h:4
// Seeded bug: forkjoin/ticket_node.h:5
// Seeded bug: forkjoin/ticket_node.h:6
// Seeded bug: forkjoin/ticket_node.h:6:split
// Seeded bug: forkjoin/ticket_node.h:7
// Seeded bug: forkjoin/ticket_node.h:8
// Seeded bug: forkjoin/ticket_node.h:9
namespace weft::model {
namespace {

// In the frame of the one who waits.
struct alignas(16) Listener {
  // A pointer whose accesses the checker sees.
  struct Next {
    Next& operator=(Listener* to) {
      var.set(to);
      return *this;
    }
    operator Listener*() const { return var.get(); }
    RelacySync::Var<Listener*> var;
  };
  Next next;
  detail::Parker<RelacySync>* parker = nullptr;
};

// As Ticket::State, but a node that is freed is only marked: a later access to the mark is a race, if nothing
// orders it.
struct State : detail::TicketNode<Listener, RelacySync> {
  RelacySync::Var<int> memory;
  RelacySync::Atomic<int> numFrees{0};
  RelacySync::Atomic<int> numCalls{0};

  void touch() { check(memory.get() == 0, "a node is used after it was freed"); }
  void free() {
    memory.set(1);
    check(numFrees.fetch_add(1, std::memory_order_relaxed) == 0, "a node is freed twice");
  }
};

// As Ticket::State::follow and callFrom.
void follow(State& state, const State::Outcome& outcome);

void callFrom(State* state) {
  while (state != nullptr) {
    state->touch();
    check(state->numCalls.fetch_add(1, std::memory_order_relaxed) == 0, "a ticket is called twice");
    Listener* listener = nullptr;
    const State::Outcome outcome = state->call(listener);
    if (outcome.isOver) {
      state->free();
    }
    while (listener != nullptr) {
      Listener* next = listener->next;
      listener->parker->unpark();
      listener = next;
    }
    state = static_cast<State*>(outcome.toCall);
  }
}

void follow(State& state, const State::Outcome& outcome) {
  if (outcome.isOver) {
    state.free();
  }
  callFrom(static_cast<State*>(outcome.toCall));
}

void wait(State& state, detail::Parker<RelacySync>& parker) {
  state.touch();
  if (state.isCalled()) {
    return;
  }
  Listener listener;
  listener.parker = &parker;
  if (state.listen(&listener)) {
    parker.park();
    check(state.isCalled(), "a wait returns before the call");
  }
}

void done(State& state) {
  state.touch();
  follow(state, state.done());
}

void drop(State& state) {
  state.touch();
  follow(state, state.drop());
}

// A row of three, whose tickets are held by three threads. The third also takes the last ticket, while the
// others run, and ends the row.
template <bool kDoneEarly>
struct Row : rl::test_suite<Row<kDoneEarly>, 3> {
  State states[3];
  detail::Parker<RelacySync> parkers[3];
  RelacySync::Var<int> data;

  void before() { follow(states[0], states[0].link(&states[1])); }

  void thread(unsigned index) {
    State& mine = states[index];
    if (index == 0) {
      callFrom(&mine);
    } else if (index == 2) {
      follow(states[1], states[1].link(&mine));
      follow(mine, mine.link(nullptr));
    }
    if (kDoneEarly && index == 1) {
      done(mine);
    } else {
      wait(mine, parkers[index]);
      check(data.get() == (kDoneEarly && index == 2 ? 1 : static_cast<int>(index)),
            "the work before is seen");
      data.set(static_cast<int>(index) + 1);
      if (index != 1) {
        done(mine);
      }
    }
    drop(mine);
  }

  void after() {
    for (State& state : states) {
      check(state.numFrees.newest() == 1, "a node is not freed");
      check(state.numCalls.newest() == 1, "a ticket is not called");
    }
  }
};

// A ticket that two hold: both wait for it, and both say done().
struct TwoHolders : rl::test_suite<TwoHolders, 3> {
  State states[2];
  detail::Parker<RelacySync> parkers[2];
  RelacySync::Var<int> data;
  RelacySync::Atomic<int> holders{2};

  void before() { follow(states[0], states[0].link(&states[1])); }

  void thread(unsigned index) {
    if (index == 0) {
      data.set(7);
      callFrom(&states[0]);
      drop(states[0]);
      return;
    }
    wait(states[1], parkers[index - 1]);
    check(data.get() == 7, "the work before is seen");
    done(states[1]);
    if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      drop(states[1]);
    }
  }

  void after() {
    follow(states[1], states[1].link(nullptr));
    for (State& state : states) {
      check(state.numFrees.newest() == 1, "a node is not freed");
    }
  }
};

// The link to the one after comes while the ticket before it is called, done and dropped.
struct LateLink : rl::test_suite<LateLink, 3> {
  State states[3];

  void before() { follow(states[0], states[0].link(&states[1])); }

  void thread(unsigned index) {
    if (index == 0) {
      callFrom(&states[0]);
      drop(states[0]);
    } else if (index == 1) {
      drop(states[1]);
    } else {
      follow(states[1], states[1].link(&states[2]));
      drop(states[2]);
    }
  }

  void after() {
    follow(states[2], states[2].link(nullptr));
    for (State& state : states) {
      check(state.numFrees.newest() == 1, "a node is not freed");
      check(state.numCalls.newest() == 1, "a ticket is not called");
    }
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Row<false>>("a row of three", 200'000) &&
           explore<Row<true>>("one is done early", 200'000) &&
           explore<TwoHolders>("two holders of one", 300'000) && explore<LateLink>("a late link", 300'000);
  });
}
