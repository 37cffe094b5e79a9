// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The test must fail with each of these in the code (see README.md):
// Seeded bug: queue/inbox.h:1:relaxed
// Seeded bug: queue/inbox.h:1:split
// Seeded bug: queue/inbox.h:2:relaxed
// Seeded bug: queue/inbox.h:2:split
// Seeded bug: queue/inbox.h:3:relaxed
// Seeded bug: queue/inbox.h:3:split
// Seeded bug: queue/segmented_queue.h:1:relaxed
// Seeded bug: queue/segmented_queue.h:4:relaxed
// Seeded bug: queue/segmented_queue_consumer.h:1:relaxed
// Seeded bug: queue/segmented_queue_consumer.h:2:split
// Seeded bug: queue/segmented_queue_consumer.h:3:split
// Seeded bug: park/parker.h:4:relaxed
// Seeded bug: park/parker.h:4:split
// Seeded bug: park/parker.h:4:touch

#include <cstddef>
#include <new>

#include <weft/detail/park/parker.h>
#include <weft/detail/queue/inbox.h>
#include <weft/detail/queue/segmented_queue.h>

#include "explore.h"
#include "model_allocator.h"

// The queues of a fair::TaskScheduler as its threads use them. How these share out work: fair_scheduler.pml.
namespace weft::model {
namespace {

using Parker = detail::Parker<RelacySync>;

struct Task {
  detail::InboxLink<Task, RelacySync> inboxNext;
  RelacySync::Var<int> payload{0};
  RelacySync::Var<int> numStarted{0};
};

// A sleeper's parker, and what it left behind before it gave its mark.
struct Owner {
  Parker parker;
  RelacySync::Var<int> leftBehind{0};
  uintptr_t mark() { return reinterpret_cast<uintptr_t>(&parker) | 1; }
};

// The front queue bears the mark of one of several threads, which hand it on with a lock held:
// IdleThreads' takeMark(), leaveMark() and leaveIdle().
struct FrontQueue {
  detail::Inbox<Task, RelacySync> inbox;
  RelacySync::Lock lock;
  RelacySync::Var<Owner*> marked{nullptr};
  Owner owners[2];
  Task tasks[2];

  void post(Task& task) {
    task.payload.set(42);
    if (const uintptr_t mark = inbox.push(&task)) {
      Owner& owner = ownerOf(mark);
      check(owner.leftBehind.get() == 1, "what an owner did before it left its mark is seen");
      owner.parker.unpark();
    }
  }
  Owner& ownerOf(uintptr_t mark) {
    for (Owner& owner : owners) {
      if (owner.mark() == mark) {
        return owner;
      }
    }
    check(false, "a mark is an owner's");
    return owners[0];
  }
  // With the lock.
  bool takeMark(Owner& owner) {
    dropMark();
    if (!inbox.tryPark(owner.mark())) {
      return false;
    }
    marked.set(&owner);
    return true;
  }
  void dropMark() {
    if (marked.get() != nullptr) {
      inbox.cancelPark(marked.get()->mark());
      marked.set(nullptr);
    }
  }
  int take() {
    int numTaken = 0;
    for (Task* task = inbox.popAll(); task != nullptr; task = task->inboxNext.get()) {
      check(task->payload.get() == 42, "the payload is there");
      task->numStarted.set(task->numStarted.get() + 1);
      numTaken++;
    }
    return numTaken;
  }
};

// One thread sleeps under its mark; the other becomes the last idle one and takes the mark over. Whoever is
// woken takes the tasks and wakes the other when it has them all. A wake-up that is lost is a deadlock.
struct MarkIsTakenOver : rl::test_suite<MarkIsTakenOver, 4>, FrontQueue {
  RelacySync::Var<int> numTaken{0};  // guarded by lock

  void thread(unsigned index) {
    if (index >= 2) {
      post(tasks[index - 2]);
      return;
    }
    Owner& self = owners[index];
    self.leftBehind.set(1);
    for (;;) {
      lock.lock();
      // With the lock, as with the role.
      numTaken.set(numTaken.get() + take());
      const bool isOver = numTaken.get() == 2;
      const bool sleeps = !isOver && takeMark(self);
      lock.unlock();
      if (isOver) {
        break;
      }
      if (sleeps) {
        self.parker.park();
      }
    }
    owners[1 - index].parker.unpark();
  }
  void after() {
    for (Task& task : tasks) {
      check(task.numStarted.get() == 1, "each task is taken once");
    }
  }
};

// An active thread leaves another's mark (seeToTheIdle), and a spinner takes it away again (spin), while
// somebody posts. The idle thread sleeps without a limit only while a mark of its own is there or a wake-up
// is under way.
struct MarkIsLeftForAnother : rl::test_suite<MarkIsLeftForAnother, 3>, FrontQueue {
  RelacySync::Var<bool> isIdle{false};  // guarded by lock

  void thread(unsigned index) {
    if (index == 1) {
      post(tasks[0]);
    } else if (index == 2) {
      // Active: leaves the idle one's mark, then looks for work itself, which takes the mark away.
      lock.lock();
      if (isIdle.get() && marked.get() == nullptr && inbox.tryPark(owners[0].mark())) {
        marked.set(&owners[0]);
      }
      lock.unlock();
      lock.lock();
      const bool hadMark = marked.get() != nullptr && inbox.cancelPark(marked.get()->mark());
      if (hadMark) {
        marked.set(nullptr);
      }
      lock.unlock();
      // Before it idles, it sees to it that the idle one wakes.
      owners[0].parker.unpark();
    } else {
      Owner& self = owners[0];
      self.leftBehind.set(1);
      for (;;) {
        lock.lock();
        const int numTaken = take();
        const bool sleeps = numTaken == 0 && (marked.get() == &self || takeMark(self));
        isIdle.set(sleeps);
        if (numTaken != 0) {
          dropMark();
        }
        lock.unlock();
        if (numTaken != 0) {
          break;
        }
        if (sleeps) {
          self.parker.park();
        }
        lock.lock();
        isIdle.set(false);
        // As leaveIdle() does.
        dropMark();
        lock.unlock();
      }
    }
  }
};

// The ready queue: the role refills it in batches, whoever is free takes one task at a time. Blocks of two,
// of a size that is only known at run time.
struct ReadyQueue {
  using Queue = detail::SegmentedQueue<Task*, RelacySync, 0, detail::Producers::InTurn>;
  using Consumer = Queue::Consumer;

  Queue queue{&allocator, 1, 3};
  Task tasks[7];

  void refill(int first, uint32_t count) {
    Task* batch[7];
    for (uint32_t i = 0; i < count; i++) {
      batch[i] = &tasks[static_cast<uint32_t>(first) + i];
      batch[i]->payload.set(42);
    }
    queue.pushBatch(batch, count);
  }
  // Returns: the number of the task that was next, or -1.
  int start(Consumer& consumer) {
    Task* task = nullptr;
    if (!consumer.pop(task)) {
      return -1;
    }
    check(task->payload.get() == 42, "the payload is there");
    task->numStarted.set(task->numStarted.get() + 1);
    return static_cast<int>(task - tasks);
  }
  void drain() {
    Consumer consumer(queue);
    while (start(consumer) >= 0) {
    }
    for (Task& task : tasks) {
      check(task.numStarted.get() == 1, "each task starts once");
    }
  }
};

// The role passes from one thread to the next with a lock; each refills and then goes on to take. Tasks start
// in the order in which they were put in.
struct RoleRefills : rl::test_suite<RoleRefills, 3>, ReadyQueue {
  RelacySync::Lock role;
  RelacySync::Var<int> numRefilled{0};  // guarded by the role

  void thread(unsigned) {
    Consumer consumer(queue);
    int last = -1;
    role.lock();
    const int first = numRefilled.get();
    numRefilled.set(first == 0 ? 3 : 7);
    if (first != 7) {
      refill(first, first == 0 ? 3 : 4);
    }
    role.unlock();
    for (int i = 0; i < 2; i++) {
      const int number = start(consumer);
      check(number == -1 || number > last, "tasks start in their order");
      last = number == -1 ? last : number;
    }
  }
  void after() { drain(); }
};

// A consumer that lags behind while others go through several blocks, one of them the lagging one's in its
// next life.
struct LaggingConsumer : rl::test_suite<LaggingConsumer, 2>, ReadyQueue {
  Consumer lagging{queue};

  void before() { refill(0, 1); }
  void thread(unsigned index) {
    if (index == 0) {
      start(lagging);
      start(lagging);
      return;
    }
    Consumer consumer(queue);
    int last = -1;
    for (int i = 1; i < 7; i++) {
      refill(i, 1);
      const int number = start(consumer);
      check(number == -1 || number > last, "tasks start in their order");
      last = number == -1 ? last : number;
    }
  }
  void after() { drain(); }
};

// weft::Signal is a Parker: of a try, a wait with a time limit and one without, the first that receives sees
// the send.
struct SignalOfOne : rl::test_suite<SignalOfOne, 2> {
  Parker signal;
  RelacySync::Var<int> result{0};

  void thread(unsigned index) {
    if (index == 1) {
      result.set(42);
      signal.unpark();
      return;
    }
    if (!signal.tryPark() && !signal.parkUntil(detail::TimePoint())) {
      signal.park();
    }
    check(result.get() == 42, "what came before the send is seen");
  }
};

// Two senders: sends that come together make one, of which each is seen.
struct SignalOfTwo : rl::test_suite<SignalOfTwo, 3> {
  Parker signal;
  RelacySync::Var<int> results[2];
  RelacySync::Atomic<int> numSent{0};
  int numReceived = 0;

  void thread(unsigned index) {
    if (index != 0) {
      results[index - 1].set(42);
      // relaxed: the signal has to order it.
      numSent.fetch_add(1, std::memory_order_relaxed);
      signal.unpark();
      return;
    }
    do {
      signal.park();
      numReceived++;
    } while (numSent.load(std::memory_order_relaxed) != 2);
    if (numReceived == 1 && !signal.tryPark()) {
      signal.parkUntil(detail::TimePoint());
    }
  }
  void after() { check(numReceived == 1 || numReceived == 2, "no receive without a send"); }
};

// The receiver destroys the signal as soon as it has received, while send() may still be returning.
struct SignalIsDestroyed : rl::test_suite<SignalIsDestroyed, 2> {
  alignas(Parker) std::byte storage[sizeof(Parker)];
  Parker* signal = nullptr;

  void before() { signal = ::new (storage) Parker; }
  void thread(unsigned index) {
    if (index == 1) {
      signal->unpark();
      return;
    }
    if (!signal->tryPark() && !signal->parkUntil(detail::TimePoint())) {
      signal->park();
    }
    signal->~Parker();
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<MarkIsTakenOver>("mark is taken over", 200'000) &&
           explore<MarkIsLeftForAnother>("mark is left for another", 200'000) &&
           explore<RoleRefills>("role refills", 200'000) &&
           explore<LaggingConsumer>("lagging consumer", 200'000) &&
           explore<SignalOfOne>("signal of one", 100'000) && explore<SignalOfTwo>("signal of two", 200'000) &&
           explore<SignalIsDestroyed>("signal is destroyed", 100'000);
  });
}
