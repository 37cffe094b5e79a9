// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/queue/inbox.h>
#include <weft/detail/queue/segmented_queue.h>
#include <weft/fair/task_scheduler.h>
#include <weft/signal.h>

#include <string>
#include <thread>

#include "problem.h"
#include "queues.h"

namespace {

using weft::fair::TaskScheduler;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

struct Weft : TaskScheduler {
  using Task = weft::fair::Task;
  explicit Weft(int numThreads) : TaskScheduler("bench", numThreads) {}
  template <class F>
  static void setBody(Task& task, F&& body) {
    task.setCallback(std::forward<F>(body));
  }
};
using Task = Weft::Task;

struct HeavyTask {
  Task task;
  int left = 10;
};

void heavy(bench::Run& run) {
  const int64_t count = run.size<int64_t>(100'000, 100);
  const double ns = run.onceNs([&] {
    Weft lib(run.workers());
    std::vector<HeavyTask> all(static_cast<size_t>(count));
    fair::Steps steps(count * 10);
    std::atomic<uint64_t> seed{1};
    for (HeavyTask& each : all) {
      each.task.setCallback([&](Task* self) {
        self->receiveSignal();
        fair::work(7'000);
        const uint64_t random = seed.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed) >> 20;
        HeavyTask& other = all[random % all.size()];
        random % 3 == 0 ? lib.wakeup(&other.task) : lib.signal(&other.task);
        if (--each.left > 0) {
          random % 4 == 0 ? lib.postDelay(self, microseconds(1'000 + random % 1'000)) : lib.post(self);
        }
        steps.count();
      });
      lib.post(&each.task);
    }
    steps.wait();
    lib.waitEmpty();
  });
  run.metric("ns_per_step", ns / static_cast<double>(count * 10));
}

void pingpong(bench::Run& run) {
  const int64_t rounds = run.size<int64_t>(300'000, 100);
  const double ns = run.medianNs([&] {
    Weft lib(run.workers());
    Task ping, pong;
    int64_t left = rounds;
    ping.setCallback([&](Task* self) {
      self->receiveSignal();
      lib.signal(&pong);
      if (--left > 0) {
        lib.postWait(self);
      }
    });
    pong.setCallback([&, replies = int64_t{0}](Task* self) mutable {
      if (self->receiveSignal()) {
        lib.signal(&ping);
        replies++;
      }
      if (replies < rounds) {
        lib.postWait(self);
      }
    });
    lib.postWait(&pong);
    lib.post(&ping);
    lib.waitEmpty();
    bench::check(left <= 0, "fair: rounds");
  });
  run.metric("ns_per_round_trip", ns / static_cast<double>(rounds));
}

void fanout(bench::Run& run) {
  constexpr int kChildren = 1'000;
  const int rounds = run.size(1'000, 3);
  Weft lib(run.workers());
  std::vector<Task> children(kChildren);
  std::vector<Task*> pointers;
  std::atomic<int> left{0};
  int numRounds = 0;
  Task parent([&](Task* self) {
    self->receiveSignal();
    if (numRounds++ == rounds) {
      return;
    }
    left.store(kChildren, std::memory_order_relaxed);
    self->setWait();
    lib.post(self);
    lib.postAll(pointers);
  });
  for (Task& child : children) {
    child.setCallback([&] {
      if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        lib.signal(&parent);
      }
    });
    pointers.push_back(&child);
  }
  const double ns = run.medianNs([&] {
    numRounds = 0;
    lib.post(&parent);
    lib.waitEmpty();
    bench::check(numRounds == rounds + 1, "fair: rounds");
  });
  run.metric("ns_per_step", ns / (static_cast<double>(rounds) * kChildren));
}

void farDeadlines(bench::Run& run) {
  const auto count = static_cast<size_t>(run.size(500'000, 500));
  Weft lib(run.workers());
  lib.reserve(count);
  std::vector<Task> tasks(count);
  std::atomic<size_t> numRun{0};
  for (Task& task : tasks) {
    task.setCallback([&] { numRun.fetch_add(1, std::memory_order_relaxed); });
  }
  const double ns = run.medianNs([&] {
    numRun = 0;
    for (size_t i = 0; i < count; i++) {
      lib.postDelay(&tasks[i], std::chrono::hours(1) + microseconds(i));
    }
    for (size_t i = count; i-- > 0;) {
      lib.wakeup(&tasks[i]);
    }
    lib.waitEmpty();
    bench::check(numRun.load() == count, "fair: woken");
  });
  run.metric("ns_per_task", ns / static_cast<double>(count));
}

template <int64_t kLoadNs>
void lateness(bench::Run& run) {
  const auto count = static_cast<size_t>(run.size(100'000, 100));
  std::vector<double> late(count);
  std::atomic<bool> isOver{false};
  Weft lib(run.workers());
  std::vector<Task> tasks(count), load(static_cast<size_t>(4 * run.workers()));
  for (Task& each : load) {
    each.setCallback([&](Task* self) {
      fair::work(kLoadNs);
      if (!isOver.load(std::memory_order_relaxed)) {
        lib.post(self);
      }
    });
    if (kLoadNs != 0) {
      lib.post(&each);
    }
  }
  fair::Steps steps(static_cast<int64_t>(count));
  std::mt19937_64 random(1);
  for (size_t i = 0; i < count; i++) {
    const auto at = Clock::now() + microseconds(200'000 + random() % run.size(2'000'000u, 10'000u));
    tasks[i].setCallback([at, &result = late[i], &steps] {
      result = std::chrono::duration<double, std::nano>(Clock::now() - at).count();
      steps.count();
    });
    lib.postDeadline(&tasks[i], at);
  }
  steps.wait();
  isOver = true;
  lib.waitEmpty();
  fair::reportLateness(run, late);
}

void timerBatch(bench::Run& run) {
  const auto rounds = static_cast<size_t>(run.size(30, 2));
  std::vector<double> late(rounds);
  Weft lib(run.workers());
  std::vector<Task> batch(static_cast<size_t>(run.size(100'000, 1'000)));
  for (Task& each : batch) {
    each.setCallback([] { fair::work(1'000); });
  }
  for (double& result : late) {
    for (Task& each : batch) {
      lib.post(&each);
    }
    const auto at = Clock::now() + microseconds(10'000);
    Task timer([&] { result = std::chrono::duration<double, std::nano>(Clock::now() - at).count(); });
    lib.postDeadline(&timer, at);
    lib.waitEmpty();
  }
  fair::reportLateness(run, late);
}

void parked(bench::Run& run) {
  const auto count = static_cast<size_t>(run.size(1'000'000, 100));
  Weft lib(run.workers());
  const int64_t before = bench::residentKib();
  std::vector<Task> tasks(count);
  for (Task& task : tasks) {
    task.setCallback([] {});
    lib.postWait(&task);
  }
  lib.waitEmpty(std::chrono::milliseconds(run.size(300, 1)));
  run.metric("bytes_per_task",
             static_cast<double>(bench::residentKib() - before) * 1024 / static_cast<double>(count));
  run.metric("sizeof_task", sizeof(Task));
  for (Task& task : tasks) {
    lib.wakeup(&task);
  }
  lib.waitEmpty();
}

void idle(bench::Run& run) {
  Weft lib(run.workers());
  lib.postOneShot([] {});
  lib.waitEmpty();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double before = bench::processCpuSeconds();
  const double seconds = run.size(2.0, 0.01);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  run.metric("percent_of_a_core", 100 * (bench::processCpuSeconds() - before) / seconds);
}

struct Ready {
  // As in a fair::TaskScheduler.
  using Queue =
      weft::detail::SegmentedQueue<fair::Item*, weft::detail::StdSync, 0, weft::detail::Producers::InTurn>;
  struct Consumer {
    explicit Consumer(Ready& ready) : consumer(ready.queue) {}
    fair::Item* pop() {
      fair::Item* item = nullptr;
      return consumer.pop(item) ? item : nullptr;
    }
    Queue::Consumer consumer;
  };
  void push(fair::Item* item) { queue.push(item); }
  explicit Ready(uint32_t blockSize) : queue(weft::Allocator::Default, 64, blockSize) {}
  Queue queue;
};

template <int64_t kSleepNs, uint32_t kBlockSize>
void queue(bench::Run& run) {
  fair::measureQueue<Ready>(run, run.workers(), kSleepNs, [] { return std::make_unique<Ready>(kBlockSize); });
}

struct FrontItem {
  weft::detail::InboxLink<FrontItem> inboxNext;
};
struct Front : weft::detail::Inbox<FrontItem> {
  using Item = FrontItem;
  static FrontItem* next(FrontItem* item) { return item->inboxNext.get(); }
};

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "fair", "weft",
                        {{"nano-1", {1, 2, 5}, fair::nanoOnce<Weft>},
                         {"nano-10", {1, 2, 5}, fair::nanoTen<Weft>},
                         {"micro", {1, 2}, fair::micro<Weft>},
                         {"micro-1", {1, 2, 5}, fair::microOnce<Weft>},
                         {"heavy-20", {1, 2, 5}, fair::heavyTwenty<Weft>},
                         {"heavy", {1, 2}, heavy},
                         {"yield-one", {1, 2}, fair::yieldOne<Weft>},
                         {"yield-thousand", {1, 2}, fair::yieldThousand<Weft>},
                         {"pingpong", {1, 2}, pingpong},
                         {"fanout", {1, 2}, fanout},
                         {"far-deadlines", {1, 2}, farDeadlines},
                         {"lateness-idle", {1, 2}, lateness<0>},
                         {"lateness-load", {1, 2}, lateness<10'000>},
                         {"timer-batch", {1, 2}, timerBatch},
                         {"parked", {2}, parked},
                         {"idle", {2}, idle},
                         {"queue-busy", {1, 2, 5, 6, 10}, queue<0, 62>},
                         {"queue-sleep", {1, 2, 5, 6, 10}, queue<100'000, 62>},
                         {"queue-busy-block-5", {6}, queue<0, 5>},
                         {"queue-busy-block-100", {6}, queue<0, 100>},
                         {"queue-busy-block-1000", {6}, queue<0, 1'000>},
                         {"queue-busy-block-10000", {6}, queue<0, 10'000>},
                         {"front", {1, 2, 5}, fair::measureFront<Front>},
                         {"signal", {2}, fair::measureSignal<weft::Signal>}});
}
