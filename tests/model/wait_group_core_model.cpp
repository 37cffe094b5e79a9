// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/wait_group_core.h>

#include "explore.h"
#include "model_waiter.h"

// Seeded bug: wait/wait_group_core.h:1
// Seeded bug: wait/wait_group_core.h:1:split
// Seeded bug: wait/wait_group_core.h:1:touch
// Seeded bug: wait/wait_group_core.h:2
// Seeded bug: wait/wait_group_core.h:2:split
// Seeded bug: wait/wait_group_core.h:3
// Seeded bug: wait/wait_group_core.h:4:split
// Seeded bug: wait/wait_group_core.h:5
// Seeded bug: wait/wait_group_core.h:6
// Seeded bug: wait/wait_word.h:2
// Seeded bug: wait/wait_word.h:4
// Seeded bug: wait/wait_group_core.h:1:release
// Seeded bug: wait/wait_word.h:4:split
// Seeded bug: wait/wait_word.h:5
// Seeded bug: wait/wait_word.h:5:split
// Seeded bug: base/spin_lock.h:1
// Seeded bug: base/spin_lock.h:1:split
namespace weft::model {
namespace {

using Core = detail::WaitGroupCore<WaiterList, RelacySync>;

// As WaitGroup. Returns: whether it was the last.
bool done(Core& core) {
  const auto wake = [](Core::Claimed claimed) {
    if (claimed.first != nullptr) {
      check(claimed.first->mark == 1, "the waiter is complete");
      claimed.first->wake();
    }
    claimed.all.wakeAll();
  };
  if (core.tryEnd()) {
    wake(core.claimAll());
    return true;
  }
  const uint32_t old = core.end();
  check(old >= Core::kOne, "the count stays above zero");
  if (old >= 2 * Core::kOne) {
    return false;
  }
  if (old != Core::kOne) {
    wake(core.claimAllAfterEnd());
  }
  return true;
}

bool wait(Core& core, Waiter& self, Limit limit, Stop& stop) {
  if (core.isOver()) {
    return true;
  }
  if (limit == Limit::None) {
    self.mark = 1;
    if (core.tryQueueFirst(self) || core.queue(self)) {
      self.block();
    }
    return true;
  }
  if (mayStop(limit) && stop.isRequested() && !core.isZero()) {
    return false;
  }
  return !core.queue(self) || blockQueued(self, core, limit, stop);
}

bool waitAgainAndAgain(Core& core, Waiter& self, Limit limit, Stop& stop) {
  while (!wait(core, self, limitAgain(limit, stop), stop)) {
    RelacySync::pause();
  }
  return true;
}

// One waits, and destroys the group when it is back, while the others may be returning.
template <Limit kLimit>
struct Destroy : rl::test_suite<Destroy<kLimit>, mayStop(kLimit) ? 4 : 3> {
  Core* core = nullptr;
  Waiter waiter;
  Stop stop;
  RelacySync::Var<int> data[2];

  void before() { core = new Core(2); }

  void thread(unsigned index) {
    if (index == 3) {
      stop.request();
    } else if (index < 2) {
      data[index].set(1);
      if (done(*core)) {
        check(data[0].get() == 1 && data[1].get() == 1, "the last sees the work of the others");
      }
    } else {
      waitAgainAndAgain(*core, waiter, kLimit, stop);
      check(data[0].get() == 1 && data[1].get() == 1, "the work of the others is seen");
      delete core;
    }
  }

  void after() { waiter.checkNoneLeft(); }
};

// Two or three wait, of whom one may give up, and is back then; the last that is back destroys the group.
template <Limit kLimit, unsigned kWaiters>
struct GiveUp : rl::test_suite<GiveUp<kLimit, kWaiters>, kWaiters + 1> {
  Core* core = nullptr;
  Waiter waiters[kWaiters];
  Stop stop;
  RelacySync::Atomic<unsigned> numBack{0};
  RelacySync::Var<int> data;

  void before() { core = new Core(1); }

  void thread(unsigned index) {
    if (index == kWaiters) {
      if (mayStop(kLimit) && rl::rand(2) == 0) {
        stop.request();
      }
      data.set(1);
      check(done(*core), "it is the last");
      if (mayStop(kLimit)) {
        stop.request();
      }
      return;
    }
    if (wait(*core, waiters[index], index == 0 ? kLimit : Limit::None, stop)) {
      check(data.get() == 1, "what came before is seen");
    }
    if (numBack.fetch_add(1, std::memory_order_acq_rel) == kWaiters - 1) {
      delete core;
    }
  }

  void after() { checkNoneLeft(waiters); }
};

// The count is zero, and then not, while one waits: it returns, and whoever of the two comes last destroys
// the group. The one that made the count zero first may still be returning.
template <Limit kLimit>
struct AddAgain : rl::test_suite<AddAgain<kLimit>, 3> {
  Core* core = nullptr;
  Waiter waiter;
  Stop stop;
  RelacySync::Atomic<int> numBack{0};

  void before() { core = new Core(1); }

  void thread(unsigned index) {
    if (index == 0) {
      done(*core);
      return;
    }
    if (index == 1) {
      core->add(1);
      done(*core);
    } else {
      waitAgainAndAgain(*core, waiter, kLimit, stop);
    }
    if (numBack.fetch_add(1, std::memory_order_acq_rel) == 1) {
      delete core;
    }
  }

  void after() { waiter.checkNoneLeft(); }
};

// The group is used again while one whose time is up finds out that it was claimed. Another waits for the
// second use meanwhile, and destroys the group once the first is back.
struct UseAgain : rl::test_suite<UseAgain, 4> {
  Core* core = nullptr;
  Waiter waiters[2];
  Stop stop;
  RelacySync::Atomic<int> isAdded{0}, isBack{0};

  void before() { core = new Core(1); }

  void await(const RelacySync::Atomic<int>& flag) {
    while (flag.load(std::memory_order_acquire) == 0) {
      RelacySync::pause();
    }
  }

  void thread(unsigned index) {
    if (index == 0) {
      wait(*core, waiters[0], Limit::Time, stop);
      isBack.store(1, std::memory_order_release);
    } else if (index == 1) {
      done(*core);
      core->add(1);
      isAdded.store(1, std::memory_order_release);
    } else if (index == 2) {
      await(isAdded);
      done(*core);
    } else {
      await(isAdded);
      waitAgainAndAgain(*core, waiters[1], Limit::None, stop);
      await(isBack);
      delete core;
    }
  }

  void after() { checkNoneLeft(waiters); }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Destroy<Limit::None>>("one waits and destroys it", 100'000) &&
           explore<Destroy<Limit::Time>>("one that gives up now and then destroys it", 200'000) &&
           explore<Destroy<Limit::TimeAndStop>>("one that is stopped destroys it", 100'000) &&
           explore<GiveUp<Limit::None, 2>>("two that wait", 100'000) &&
           explore<GiveUp<Limit::Time, 2>>("two, one of whom gives up", 100'000) &&
           explore<GiveUp<Limit::Stop, 2>>("two, one of whom is stopped", 100'000) &&
           explore<GiveUp<Limit::Time, 3>>("three, one of whom gives up", 100'000) &&
           explore<AddAgain<Limit::None>>("work is added again", 100'000) &&
           explore<AddAgain<Limit::Time>>("work is added again beside one that gives up", 100'000) &&
           explore<UseAgain>("the group is used again", 100'000);
  });
}
