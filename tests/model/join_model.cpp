// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/forkjoin/completion.h>
#include <weft/detail/forkjoin/group_count.h>
#include <weft/detail/park/parker.h>
#include <weft/detail/queue/steal_gate.h>
#include <weft/detail/queue/stealing_deque.h>

#include "explore.h"

// Seeded bug: forkjoin/completion.h:1
// Seeded bug: forkjoin/completion.h:1:split
// Seeded bug: forkjoin/completion.h:2
// Seeded bug: forkjoin/completion.h:1:release
// Seeded bug: forkjoin/completion.h:2:split
// Seeded bug: forkjoin/group_count.h:1
// Seeded bug: forkjoin/group_count.h:1:split
// Seeded bug: forkjoin/group_count.h:2
// Seeded bug: forkjoin/group_count.h:3
// Seeded bug: forkjoin/group_count.h:3:release
// Seeded bug: forkjoin/group_count.h:3:split
// Seeded bug: queue/stealing_deque.h:2
namespace weft::model {
namespace {

using Parker = detail::Parker<RelacySync>;
using StealGate = detail::StealGate<RelacySync>;

// Memory that is only marked when it is freed: a later access is then a race, or fails.
struct Frame {
  RelacySync::Var<int> isGone;
  void touch() { check(isGone.get() == 0, "a frame is used after its function has returned"); }
  void leave() { isGone.set(1); }
};

// A forked child in the frame of its parent, as join() makes it.
struct Child {
  Frame frame;
  detail::Completion<Parker, RelacySync> completion;
  RelacySync::Var<int> isAwaited;  // stands for what is the waiter's
  RelacySync::Var<int> result;
  RelacySync::Atomic<int> numCalls{0};

  void call() {
    frame.touch();
    check(numCalls.fetch_add(1, std::memory_order_relaxed) == 0, "a child is called twice");
    result.set(42);
  }
};

using Deque = detail::StealingDeque<Child, RelacySync, 4>;

void runAsTask(Child& child) {
  child.call();
  if (Parker* parent = child.completion.finish()) {
    check(child.isAwaited.get() == 1, "the waiter is complete");
    parent->unpark();
  }
}

void steal(Deque& deque, StealGate::Stealer& self) {
  self.enter();
  Deque::Stolen stolen;
  do {
    stolen = deque.steal();
  } while (stolen.lostRace);
  self.leave();
  if (stolen.item != nullptr) {
    runAsTask(*stolen.item);
  }
}

// A parent that forks two children, one after the other's join, and two thieves.
struct ForkAndJoin : rl::test_suite<ForkAndJoin, 3> {
  StealGate gate;
  StealGate::Stealer stealers[3] = {StealGate::Stealer(gate), StealGate::Stealer(gate),
                                    StealGate::Stealer(gate)};
  Deque deque;
  Child children[2];
  Parker parent;

  void join(Child& child) {
    if (Child* newest = deque.take(stealers[0])) {
      check(newest == &child, "the newest is the child");
      child.call();
    } else {
      child.isAwaited.set(1);
      if (!child.completion.isDoneOrWakes(parent)) {
        parent.park();
      }
    }
    check(child.result.get() == 42, "the parent sees the result");
    child.frame.leave();
  }

  void thread(unsigned index) {
    if (index != 0) {
      steal(deque, stealers[index]);
      return;
    }
    for (Child& child : children) {
      check(deque.push(&child), "the deque has room");
      join(child);
    }
  }
};

// The same with both children forked before either is joined.
struct NestedForks : rl::test_suite<NestedForks, 3> {
  ForkAndJoin parts;

  void thread(unsigned index) {
    if (index != 0) {
      steal(parts.deque, parts.stealers[index]);
      return;
    }
    check(parts.deque.push(&parts.children[0]), "the deque has room");
    check(parts.deque.push(&parts.children[1]), "the deque has room");
    parts.join(parts.children[1]);
    parts.join(parts.children[0]);
  }
};

// A group of which the owner has scheduled two tasks: one is taken back, or runs elsewhere, as the other
// does; that one schedules a third.
struct Group : rl::test_suite<Group, 3> {
  Frame frame;
  detail::GroupCount<Parker, RelacySync> count;
  RelacySync::Atomic<int> isTaken{0};
  RelacySync::Atomic<int> isThird{0};
  RelacySync::Var<int> results[3];
  Parker owner;

  void before() {
    count.addOwn();
    count.addOwn();
  }

  void end(int task) {
    frame.touch();
    results[task].set(1);
    if (Parker* waiter = count.endOfOther()) {
      waiter->unpark();
    }
  }

  void thread(unsigned index) {
    switch (index) {
      case 0:
        if (isTaken.exchange(1, std::memory_order_relaxed) == 0) {
          const int64_t left = count.beginInPlace();
          check(count.isWaitedFor() && !count.isOver(), "a task in place finds that the group waits for it");
          results[0].set(1);
          count.endInPlace(left - 1);
        }
        if (!count.isOver()) {
          if (!count.isOverOrWakes(owner)) {
            owner.park();
          }
          count.endWait();
        }
        for (auto& result : results) {
          check(result.get() == 1, "the owner sees what the tasks have done");
        }
        check(count.isOver(), "the group is over");
        frame.leave();
        break;
      case 1:
        if (isTaken.exchange(1, std::memory_order_relaxed) == 0) {
          end(0);
        }
        // (1) acquire: pairs with (2).
        while (isThird.load(std::memory_order_acquire) == 0) {
          RelacySync::pause();
        }
        end(2);
        break;
      default:
        frame.touch();
        count.addOther();
        // (2) release: pairs with (1).
        isThird.store(1, std::memory_order_release);
        end(1);
        break;
    }
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return exploreFinite<ForkAndJoin>("fork and join", 350'000) &&
           exploreFinite<NestedForks>("nested forks", 300'000) && exploreFinite<Group>("group", 350'000);
  });
}
