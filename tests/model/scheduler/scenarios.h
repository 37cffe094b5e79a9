// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/detail/future/executor_link.h>
#include <weft/detail/park/parker.h>
#include <weft/event.h>
#include <weft/executor.h>
#include <weft/fiber.h>
#include <weft/join.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/sharedmutex.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/thread.h>
#include <weft/waitgroup.h>

#include "machine.h"

// What the programs do that are checked. Each makes a scheduler of two workers, or of fewer and has a second
// thread of its own, and ends it. What a task must have run once is counted in a variable that the checker
// watches: so a task that is lost or run twice, and one whose effects are not seen by those who waited for
// it, is an error.
//
// A task that must not be alone blocks its thread until its mate has begun. So a worker that sleeps beside a
// queued task is a deadlock, and the checker finds it. The thread outside waits for that before it ends the
// scheduler, lest the end, which wakes all, make up for a wake that was lost before.
namespace weft::model {

using Shared = RelacySync::Var<int>;

inline MachineAllocator allocator;

inline Scheduler::Config config(int numWorkers = kWorkers) {
  return Scheduler::Config()
      .setAllocator(&allocator)
      .setWorkerThreadCount(numWorkers)
      .setIdleSearch(std::chrono::nanoseconds(0));
}

inline void increment(Shared& value) { value.set(value.get() + 1); }

// Blocks two threads, which are not let go on before both are there.
class Meeting {
 public:
  void meet(int side) {
    parkers_[1 - side].unpark();
    parkers_[side].park();
  }

 private:
  detail::Parker<> parkers_[2];
};

// A second thread outside, of a scenario with fewer than two workers.
template <class F>
class OtherThread {
 public:
  explicit OtherThread(F function) : function_(function) {
    check(thread_.start(&OtherThread::main, this, {}) == 0, "the thread has started");
  }
  ~OtherThread() { thread_.join(); }
  OtherThread(const OtherThread&) = delete;
  OtherThread& operator=(const OtherThread&) = delete;

 private:
  static void main(void* self) { static_cast<OtherThread*>(self)->function_(); }

  F function_;
  detail::NativeThread thread_;
};

struct Scenario {
  virtual ~Scenario() = default;
  virtual void run() = 0;
};

struct Nothing final : Scenario {
  void run() override { Scheduler scheduler(config()); }
};

// Two tasks from a thread that is not bound, that may come to a worker in one batch and must both run at the
// same time.
struct Batch final : Scenario {
  Shared numRuns[2];
  Meeting meeting;
  detail::Parker<> bothRun;

  void run() override {
    {
      Scheduler scheduler(config());
      for (int i = 0; i < 2; ++i) {
        scheduler.enqueue([this, i] {
          increment(numRuns[i]);
          meeting.meet(i);
          if (i == 0) {
            bothRun.unpark();
          }
        });
      }
      bothRun.park();
    }
    check(numRuns[0].get() == 1 && numRuns[1].get() == 1, "each task has run once");
  }
};

// A task schedules another, which only the other worker can run.
struct Theft final : Scenario {
  Shared numRuns[2];
  Meeting meeting;
  detail::Parker<> bothRun;

  void run() override {
    {
      Scheduler scheduler(config());
      scheduler.enqueue([this] {
        increment(numRuns[0]);
        schedule([this] {
          increment(numRuns[1]);
          meeting.meet(1);
        });
        meeting.meet(0);
        bothRun.unpark();
      });
      bothRun.park();
    }
    check(numRuns[0].get() == 1 && numRuns[1].get() == 1, "each task has run once");
  }
};

// Tasks are given at once, by a thread that is not bound or by a task: the first goes alone, and then two in
// one batch, which must both run at the same time.
template <bool kFromTask>
struct Many final : Scenario {
  Shared numRuns[3];
  Meeting meeting;
  detail::Parker<> bothRun;

  void queueAll(Scheduler& scheduler) {
    Task tasks[3];
    for (int i = 0; i < 3; ++i) {
      tasks[i] = Task([this, i] {
        increment(numRuns[i]);
        if (i > 0) {
          meeting.meet(i - 1);
        }
        if (i == 1) {
          bothRun.unpark();
        }
      });
    }
    scheduler.enqueueMany(std::move(tasks));
  }

  void run() override {
    {
      Scheduler scheduler(config());
      if constexpr (kFromTask) {
        scheduler.enqueue([this, &scheduler] { queueAll(scheduler); });
      } else {
        queueAll(scheduler);
      }
      bothRun.park();
    }
    for (Shared& number : numRuns) {
      check(number.get() == 1, "each task has run once");
    }
  }
};

// A task schedules more than its deque holds. The one of number kFirst and the next one must both run at the
// same time. For the first two there was no room: from 0 on they come to a worker in one batch, and from 1 on
// the latter is the oldest in the deque.
template <int kFirst>
struct Overflow final : Scenario {
  static constexpr int kTasks = 6;
  Shared numRuns[kTasks];
  Meeting meeting;
  detail::Parker<> haveMet;

  void run() override {
    {
      Scheduler scheduler(config());
      scheduler.enqueue([this] {
        for (int i = 0; i < kTasks; ++i) {
          schedule([this, i] {
            increment(numRuns[i]);
            if (i == kFirst || i == kFirst + 1) {
              meeting.meet(i - kFirst);
            }
            if (i == kFirst) {
              haveMet.unpark();
            }
          });
        }
      });
      haveMet.park();
    }
    for (Shared& runs : numRuns) {
      check(runs.get() == 1, "each task has run once");
    }
  }
};

// The last task schedules another while the scheduler ends.
struct LastTaskSchedules final : Scenario {
  Shared numRuns[2];

  void run() override {
    {
      Scheduler scheduler(config());
      scheduler.enqueue([this] {
        increment(numRuns[0]);
        schedule([this] { increment(numRuns[1]); });
      });
    }
    check(numRuns[0].get() == 1 && numRuns[1].get() == 1, "each task has run once");
  }
};

// A bound thread leaves its tasks to the workers, and the scheduler ends.
struct LeftToWorkers final : Scenario {
  Shared numRuns[2];

  void run() override {
    {
      Scheduler scheduler(config());
      const Scheduler::Binding bound(scheduler);
      for (Shared& runs : numRuns) {
        schedule([&runs] { increment(runs); });
      }
    }
    check(numRuns[0].get() == 1 && numRuns[1].get() == 1, "each task has run once");
  }
};

// A task waits for another one, on the same worker or not, while the scheduler ends.
struct TaskWaitsForTask final : Scenario {
  Shared value;

  void run() override {
    {
      Scheduler scheduler(config());
      const Event event(Event::Mode::Manual);
      scheduler.enqueue([this, event] {
        event.wait();
        increment(value);
      });
      scheduler.enqueue([this, event] {
        increment(value);
        event.signal();
      });
    }
    check(value.get() == 2, "both have run, one after the other");
  }
};

// Two tasks are woken at once, by a third.
struct WakeAll final : Scenario {
  Shared numRuns[2];
  Shared value;

  void run() override {
    {
      Scheduler scheduler(config());
      const Event event(Event::Mode::Manual);
      for (Shared& runs : numRuns) {
        scheduler.enqueue([this, &runs, event] {
          event.wait();
          runs.set(value.get());
        });
      }
      scheduler.enqueue([this, event] {
        value.set(1);
        event.signal();
      });
    }
    check(numRuns[0].get() == 1 && numRuns[1].get() == 1, "each task was woken");
  }
};

// A thread that is not bound wakes a task, and is woken by it.
struct WokenFromOutside final : Scenario {
  Shared value;

  void run() override {
    {
      Scheduler scheduler(config());
      const Event question(Event::Mode::Auto);
      const Event answer(Event::Mode::Auto);
      scheduler.enqueue([this, question, answer] {
        question.wait();
        increment(value);
        answer.signal();
      });
      value.set(1);
      question.signal();
      answer.wait();
      check(value.get() == 2, "the task has run before its signal");
    }
  }
};

// A bound thread waits for its tasks. Where they have ended, all may go at once.
struct BoundThreadWaits final : Scenario {
  Shared value[2];

  void run() override {
    Scheduler scheduler(config());
    const Scheduler::Binding bound(scheduler);
    const WaitGroup done(2);
    for (Shared& its : value) {
      schedule([&its, done] {
        increment(its);
        done.done();
      });
    }
    done.wait();
    check(value[0].get() == 1 && value[1].get() == 1, "the tasks have run before the wait ended");
  }
};

// A time limit and a signal come at the same time. A second wait is left in order.
struct TimeLimit final : Scenario {
  Shared value;

  void run() override {
    {
      Scheduler scheduler(config());
      const Event event(Event::Mode::Auto);
      scheduler.enqueue([this, event] {
        if (!event.wait_for(std::chrono::milliseconds(1))) {
          event.wait();
        }
        increment(value);
      });
      value.set(1);
      event.signal();
    }
    check(value.get() == 2, "the signal has ended one wait");
  }
};

// Nothing but the time ends these waits, of two fibers on one worker or on two.
struct Sleepers final : Scenario {
  Shared numRuns[2];

  void run() override {
    {
      Scheduler scheduler(config());
      for (int i = 0; i < 2; ++i) {
        scheduler.enqueue([this, i] {
          sleep_for(std::chrono::hours(2 - i));
          increment(numRuns[i]);
        });
      }
    }
    check(numRuns[0].get() == 1 && numRuns[1].get() == 1, "each task has run once");
  }
};

// A task forks. Its child runs in place or is stolen, and blocks there.
struct Join final : Scenario {
  Shared value[2];
  Shared sum;

  void run() override {
    {
      Scheduler scheduler(config());
      const Event event(Event::Mode::Manual);
      scheduler.enqueue([this, event] {
        join([&] { increment(value[0]); },
             [&] {
               event.wait();
               increment(value[1]);
             });
        sum.set(value[0].get() + value[1].get());
      });
      event.signal();
    }
    check(sum.get() == 2, "both functions have run before join() returned");
  }
};

// A bound thread forks, for the workers too.
struct BoundThreadJoins final : Scenario {
  Shared value[2];

  void run() override {
    Scheduler scheduler(config());
    const Scheduler::Binding bound(scheduler);
    join([&] { increment(value[0]); }, [&] { increment(value[1]); });
    check(value[0].get() == 1 && value[1].get() == 1, "both functions have run before join() returned");
  }
};

// A task runs others in a group, and a thread that is not bound waits for it.
struct Group final : Scenario {
  Shared value[2];

  void run() override {
    Scheduler scheduler(config());
    const WaitGroup done(1);
    scheduler.enqueue([this, done] {
      TaskGroup group;
      for (Shared& its : value) {
        group.run([&its] { increment(its); });
      }
      group.wait();
      done.done();
    });
    done.wait();
    check(value[0].get() == 1 && value[1].get() == 1, "the tasks have run before the wait ended");
  }
};

// A bound thread runs its own tasks when it unbinds. They wait for each other and for a worker.
struct OfThisThread final : Scenario {
  Shared numRuns[2];
  Shared value;

  void run() override {
    Scheduler scheduler(config());
    {
      const Scheduler::Binding bound(scheduler);
      const Event first(Event::Mode::Manual);
      const Event second(Event::Mode::Manual);
      schedule(Task(
          [this, first, second] {
            first.wait();
            increment(numRuns[0]);
            second.signal();
          },
          Task::Flags::SameThread));
      schedule(Task(
          [this, second] {
            second.wait();
            increment(numRuns[1]);
          },
          Task::Flags::SameThread));
      schedule([this, first] {
        increment(value);
        first.signal();
      });
    }
    check(numRuns[0].get() == 1 && numRuns[1].get() == 1 && value.get() == 1, "each task has run once");
  }
};

// Fibers of two workers share a mutex, and are suspended while they hold it.
struct Exclusion final : Scenario {
  mutex guard;
  Shared value;

  void run() override {
    {
      Scheduler scheduler(config());
      for (int i = 0; i < 2; ++i) {
        scheduler.enqueue([this] {
          const lock held(guard);
          increment(value);
          yield();
          increment(value);
        });
      }
    }
    check(value.get() == 4, "each task has run once, alone");
  }
};

// A task waits for a lock, and the next task of its worker blocks the thread until a task of the other worker
// has had the lock. That one has it even if the lock was handed to the first.
struct Expiry final : Scenario {
  SharedMutex guard;
  Shared value;
  detail::Parker<> otherHadIt;

  void run() override {
    guard.lock();
    {
      Scheduler scheduler(config());
      const auto use = [this] {
        guard.lock();
        increment(value);
        guard.unlock();
      };
      scheduler.enqueueOn(0, Task(use));
      scheduler.enqueueOn(0, Task([this] { otherHadIt.park(); }));
      scheduler.enqueueOn(1, Task([this, use] {
                            use();
                            otherHadIt.unpark();
                          }));
      increment(value);
      guard.unlock();
    }
    check(value.get() == 3, "all have had the lock");
  }
};

// Two fibers notify each other, on one worker or on two.
struct PingPong final : Scenario {
  Shared value;

  void run() override {
    {
      Scheduler scheduler(config());
      const Event events[2] = {Event(Event::Mode::Auto), Event(Event::Mode::Auto)};
      for (int i = 0; i < 2; ++i) {
        scheduler.enqueue([this, i, own = events[i], other = events[1 - i]] {
          for (int round = 0; round < 2; ++round) {
            own.wait();
            increment(value);
            other.signal();
          }
        });
      }
      events[0].signal();
    }
    check(value.get() == 4, "each waited for the other");
  }
};

// Two threads that are not bound give tasks to one worker.
struct TwoProducers final : Scenario {
  Shared numRuns[2];

  void run() override {
    {
      Scheduler scheduler(config(1));
      const OtherThread other([&] { scheduler.enqueue([this] { increment(numRuns[0]); }); });
      scheduler.enqueue([this] { increment(numRuns[1]); });
    }
    check(numRuns[0].get() == 1 && numRuns[1].get() == 1, "each task has run once");
  }
};

// A continuation gives its task to a scheduler that ends. The task is run, or dropped.
struct LateTask final : Scenario {
  Shared numRuns;
  Shared numDropped;

  struct Counted {
    ~Counted() {
      if (owner != nullptr) {
        increment(hasRun ? owner->numRuns : owner->numDropped);
      }
    }
    explicit Counted(LateTask& task) : owner(&task) {}
    Counted(Counted&& other) noexcept : owner(std::exchange(other.owner, nullptr)) {}
    void operator()() { hasRun = true; }
    LateTask* owner;
    bool hasRun = false;
  };

  void run() override {
    std::optional<Scheduler> scheduler(std::in_place, config(1));
    {
      const auto kept = detail::ExecutorAccess::keep(*scheduler);
      const OtherThread other([&] {
        detail::TaskNode* node = detail::NodeMemory<detail::FunctionNode<Counted>>::make(Counted(*this), 0u);
        kept.schedule(TaskHandle::fromVoidPointer(node));
      });
      scheduler.reset();
    }
    check(numRuns.get() + numDropped.get() == 1, "the task was run or dropped, once");
  }
};

// The scheduler ends while a thread is bound, which waits for its task and then unbinds.
struct BoundAtTheEnd final : Scenario {
  Shared value;
  detail::Parker<> isBound;

  void run() override {
    std::optional<Scheduler> scheduler(std::in_place, config(1));
    const OtherThread other([&] {
      const Scheduler::Binding bound(*scheduler);
      isBound.unpark();
      const WaitGroup done(1);
      schedule([this, done] {
        increment(value);
        done.done();
      });
      done.wait();
      check(value.get() == 1, "the task has run before the wait ended");
    });
    isBound.park();
    scheduler.reset();
  }
};

// Two threads are bound to a scheduler without workers, and wake each other's tasks.
struct TwoBoundThreads final : Scenario {
  Shared value;

  void run() override {
    {
      Scheduler scheduler(config(0));
      const Event question(Event::Mode::Auto);
      const Event answer(Event::Mode::Auto);
      const OtherThread other([&] {
        const Scheduler::Binding bound(scheduler);
        schedule([&] {
          question.wait();
          increment(value);
          answer.signal();
        });
      });
      const Scheduler::Binding bound(scheduler);
      schedule([&] {
        value.set(1);
        question.signal();
      });
      answer.wait();
    }
    check(value.get() == 2, "one task waited for the other");
  }
};

// A worker of one scheduler wakes a fiber of another one, which ends as soon as that fiber's task has.
struct TwoSchedulers final : Scenario {
  Shared value;

  void run() override {
    Scheduler waker(config(1));
    {
      Scheduler woken(config(1));
      const Event event(Event::Mode::Manual);
      woken.enqueue([this, event] {
        event.wait();
        increment(value);
      });
      waker.enqueue([this, event] {
        value.set(1);
        event.signal();
      });
    }
    check(value.get() == 2, "the task was woken");
  }
};

// A fiber is notified while its first wait comes to its time limit. So does the wait of the thread outside.
struct Permits final : Scenario {
  Shared value;

  void run() override {
    {
      Scheduler scheduler(config());
      const Event begun(Event::Mode::Manual);
      Fiber* fiber = nullptr;
      scheduler.enqueue([this, &fiber, begun] {
        fiber = Fiber::current();
        begun.signal();
        if (!fiber->wait(std::chrono::steady_clock::now() + std::chrono::hours(1))) {
          fiber->wait();
        }
        increment(value);
      });
      while (!begun.wait_for(std::chrono::hours(1))) {
      }
      value.set(1);
      fiber->notify();
    }
    check(value.get() == 2, "the fiber was notified");
  }
};

// A worker's task schedules tasks for its own thread, which wait for one that the other worker may take.
struct Pinned final : Scenario {
  Shared numRuns[2];
  Shared value;

  void run() override {
    {
      Scheduler scheduler(config());
      scheduler.enqueue([this] {
        const Event event(Event::Mode::Manual);
        const auto own = rl::ctx().current_thread();
        for (Shared& runs : numRuns) {
          schedule(Task(
              [this, &runs, event, own] {
                check(rl::ctx().current_thread() == own, "the task runs on its thread");
                event.wait();
                runs.set(value.get());
              },
              Task::Flags::SameThread));
        }
        schedule([this, event] {
          value.set(1);
          event.signal();
        });
      });
    }
    check(numRuns[0].get() == 1 && numRuns[1].get() == 1, "each task has run after the signal");
  }
};

// Tasks are placed on one worker by a thread outside, and by a task of the other one.
struct Placed final : Scenario {
  Shared numRuns;  // of one worker's, which no other touches
  detail::Parker<> allRun;

  void runOne() {
    check(Scheduler::workerId() == 1, "a task runs where it was placed");
    increment(numRuns);
    if (numRuns.get() == 3) {
      allRun.unpark();
    }
  }

  void run() override {
    {
      Scheduler scheduler(config());
      scheduler.enqueueOn(0, Task([this, &scheduler] {
                            check(Scheduler::workerId() == 0, "a task runs where it was placed");
                            scheduler.enqueueOn(1, Task([this] { runOne(); }));
                          }));
      Shared numOfOurs;
      for (int i = 0; i < 2; ++i) {
        scheduler.enqueueOn(1, Task([this, i, &numOfOurs] {
                              check(numOfOurs.get() == i, "first in, first out");
                              increment(numOfOurs);
                              runOne();
                            }));
      }
      allRun.park();
    }
    check(numRuns.get() == 3, "each task has run once");
  }
};

// The last task places another while the scheduler ends.
struct PlacedAtTheEnd final : Scenario {
  Shared value;

  void run() override {
    {
      Scheduler scheduler(config());
      scheduler.enqueueOn(0, Task([this, &scheduler] {
                            increment(value);
                            scheduler.enqueueOn(1, Task([this] { increment(value); }));
                          }));
    }
    check(value.get() == 2, "each task has run once");
  }
};

// Workers begin with an initializer, which schedules and waits, and end with a finalizer.
struct Initializer final : Scenario {
  Shared numBegun[kWorkers];
  Shared numEnded[kWorkers];

  void run() override {
    {
      auto wanted = config();
      wanted.setWorkerThreadInitializer([this](int id) {
        const WaitGroup done(1);
        schedule([this, id, done] {
          increment(numBegun[id]);
          done.done();
        });
        done.wait();
      });
      wanted.setWorkerThreadFinalizer([this](int id) { increment(numEnded[id]); });
      Scheduler scheduler(wanted);
    }
    for (unsigned id = 0; id < kWorkers; ++id) {
      check(numBegun[id].get() == 1 && numEnded[id].get() == 1, "each is called once for each worker");
    }
  }
};

}  // namespace weft::model
