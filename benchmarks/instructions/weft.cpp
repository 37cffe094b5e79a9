// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <optional>
#include <vector>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

// Runs program(n) on the scheduler's worker, or on the bound thread if there is none.
template <class F>
void measure(bench::Run& run, F program) {
  bench::Bound bound(run.workers());
  instructions::measure(run, [&](auto f) { run.workers() == 0 ? f() : bench::runTask(f); }, program);
}

// Empty tasks, a thousand at a time.
void spawn(bench::Run& run) {
  measure(run, [](int64_t n) {
    for (int64_t i = 0; i < n; i += 1'000) {
      bench::Countdown left(1'000);
      for (int64_t task = 0; task < 1'000; task++) {
        weft::schedule([&left] { left.done(); });
      }
      left.wait();
    }
  });
}

// The same, counted by a WaitGroup that each captures by value.
void spawnGroup(bench::Run& run) {
  measure(run, [](int64_t n) {
    for (int64_t i = 0; i < n; i += 1'000) {
      weft::WaitGroup left(1'000);
      for (int64_t task = 0; task < 1'000; task++) {
        weft::schedule([left] { left.done(); });
      }
      left.wait();
    }
  });
}

// Two fibers that yield to each other.
void yield(bench::Run& run) {
  measure(run, [](int64_t n) {
    weft::WaitGroup done(2);
    for (int fiber = 0; fiber < 2; fiber++) {
      weft::schedule(weft::Task(
          [=] {
            for (int64_t i = 0; i < n / 2; i++) {
              weft::yield();
            }
            done.done();
          },
          weft::Task::Flags::SameThread));
    }
    done.wait();
  });
}

// Round trips of two tasks through two events.
void event(bench::Run& run) {
  measure(run, [](int64_t n) {
    weft::Event ping, pong;
    weft::WaitGroup done(1);
    weft::schedule(weft::Task(
        [=] {
          for (int64_t i = 0; i < n; i++) {
            ping.wait();
            pong.signal();
          }
          done.done();
        },
        weft::Task::Flags::SameThread));
    for (int64_t i = 0; i < n; i++) {
      ping.signal();
      pong.wait();
    }
    done.wait();
  });
}

// Round trips of two tasks through two channels. Each of them waits by a select of two cases.
void select(bench::Run& run) {
  measure(run, [](int64_t n) {
    const weft::Channel<int64_t> ping, pong, silent;
    const auto receive = [silent](const weft::Channel<int64_t>& from) {
      int64_t received = -1;
      weft::select(weft::onReceive(from, [&](std::optional<int64_t> value) { received = *value; }),
                   weft::onReceive(silent, [](std::optional<int64_t>) {}));
      return received;
    };
    weft::WaitGroup done(1);
    weft::schedule(weft::Task(
        [=] {
          for (int64_t i = 0; i < n; i++) {
            pong.send(receive(ping));
          }
          done.done();
        },
        weft::Task::Flags::SameThread));
    for (int64_t i = 0; i < n; i++) {
      ping.send(i);
      bench::check(receive(pong) == i, "select");
    }
    done.wait();
  });
}

// Forks of two empty functions.
void join(bench::Run& run) {
  measure(run, [](int64_t n) {
    int64_t calls = 0;
    for (int64_t i = 0; i < n; i++) {
      weft::join([&] { calls++; }, [&] { calls++; });
    }
    bench::check(calls == 2 * n, "join");
  });
}

// Groups of one task.
void group(bench::Run& run) {
  measure(run, [](int64_t n) {
    int64_t calls = 0;
    for (int64_t i = 0; i < n; i++) {
      weft::TaskGroup tasks;
      tasks.run([&] { calls++; });
      tasks.wait();
    }
    bench::check(calls == n, "group");
  });
}

// Tasks of one group, a thousand at a time.
void groupMany(bench::Run& run) {
  measure(run, [](int64_t n) {
    int64_t calls = 0;
    for (int64_t i = 0; i < n; i += 1'000) {
      weft::TaskGroup tasks;
      for (int64_t task = 0; task < 1'000; task++) {
        tasks.run([&] { calls++; });
      }
      tasks.wait();
    }
    bench::check(calls == n, "group-many");
  });
}

// A task and its result.
void async(bench::Run& run) {
  measure(run, [](int64_t n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
      sum += weft::async([i] { return i; }).get();
    }
    bench::check(sum == n * (n - 1) / 2, "async");
  });
}

// Each task waits for its ticket, and is done with it.
void ticket(bench::Run& run) {
  measure(run, [](int64_t n) {
    weft::Ticket::Queue queue;
    int64_t called = 0;
    for (int64_t i = 0; i < n; i++) {
      weft::schedule([ticket = queue.take(), i, &called] {
        ticket.wait();
        bench::check(called++ == i, "ticket");
        ticket.done();
      });
    }
    queue.take().wait();
  });
}

void mutexUncontended(bench::Run& run) {
  measure(run, [](int64_t n) {
    weft::mutex mutex;
    for (int64_t i = 0; i < n; i++) {
      mutex.lock();
      mutex.unlock();
    }
  });
}

// Steps of stackless tasks, `steps` for each of n / steps tasks, on one thread of weft::fair, whose first
// step posts them all.
template <int64_t steps>
void fair(bench::Run& run) {
  instructions::measure(
      run, [](auto f) { f(); },
      [](int64_t n) {
        weft::fair::TaskScheduler scheduler("bench", 1);
        std::vector<weft::fair::Task> tasks(static_cast<size_t>(n / steps));
        for (weft::fair::Task& task : tasks) {
          task.setCallback([&scheduler, left = steps](weft::fair::Task* self) mutable {
            if (--left > 0) {
              scheduler.post(self);
            }
          });
        }
        weft::fair::Task first([&] {
          for (weft::fair::Task& task : tasks) {
            scheduler.post(&task);
          }
        });
        scheduler.post(&first);
        scheduler.waitEmpty();
      });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "instructions", "weft",
                        {{"spawn", {0, 1}, spawn},
                         {"spawn-group", {0, 1}, spawnGroup},
                         {"yield", {0, 1}, yield},
                         {"event", {0, 1}, event},
                         {"select", {0, 1}, select},
                         {"join", {0, 1}, join},
                         {"group", {0, 1}, group},
                         {"group-many", {0, 1}, groupMany},
                         {"async", {0, 1}, async},
                         {"ticket", {0, 1}, ticket},
                         {"mutex", {0, 1}, mutexUncontended},
                         {"fair-nano-1", {1}, fair<1>},
                         {"fair-nano-10", {1}, fair<10>}});
}
