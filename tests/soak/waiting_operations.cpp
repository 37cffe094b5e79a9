// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "soak.h"

// Operations that wait: locks, events, counts, channels, timeouts, stops.
namespace weft::soak {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

struct Pipeline {
  explicit Pipeline(Random random)
      : count(random.between(1, 64)),
        first(random.between(0, 4)),
        second(random.between(0, 4)),
        key(random.next()) {}
  static uint64_t become(uint64_t value) { return 3 * value + 1; }

  int count, first, second;
  uint64_t key;
};

uint64_t runPipeline(const Ground& ground, Random random) {
  const Pipeline the(random);
  const Channel<uint64_t> first(static_cast<size_t>(the.first)), second(static_cast<size_t>(the.second));
  ground.spawn([the, first] {
    for (int i = 0; i < the.count; ++i) {
      first.send(mix(the.key + static_cast<uint64_t>(i)));
    }
    first.close();
  });
  const WaitGroup stages(2);
  for (int i = 0; i < 2; ++i) {
    ground.spawn([first, second, stages] {
      for (uint64_t value : first) {
        second.send(Pipeline::become(value));
      }
      if (stages.done()) {
        second.close();
      }
    });
  }
  uint64_t sum = 0;
  for (uint64_t value : second) {
    sum += value;
  }
  return sum;
}

uint64_t expectPipeline(Random random) {
  const Pipeline the(random);
  return sumOf(the.count, the.key, Pipeline::become);
}

// Some tasks that each do some rounds.
struct Crowd {
  explicit Crowd(Random random)
      : tasks(random.between(1, 6)),
        rounds(random.between(1, 16)),
        way(random.between(0, 3)),
        key(random.next()) {}
  uint64_t value(int task, int round) const {
    return mix(key + static_cast<uint64_t>(task * rounds + round));
  }

  int tasks, rounds, way;
  uint64_t key;
};

uint64_t expectCrowd(Random random) {
  const Crowd the(random);
  return sumOf(the.tasks * the.rounds, the.key);
}

template <class Mutex>
uint64_t addLocked(const Ground& ground, const Crowd& the) {
  Mutex guard;
  uint64_t sum = 0;
  ground.callTasks(the.tasks, [&](int task) {
    for (int round = 0; round < the.rounds; ++round) {
      const std::scoped_lock held(guard);
      const uint64_t before = sum;
      if (round % 8 == 3) {
        yield();
      }
      sum = before + the.value(task, round);
    }
  });
  return sum;
}

uint64_t runLocks(const Ground& ground, Random random) {
  const Crowd the(random);
  switch (the.way) {
    case 0:
      return addLocked<SharedMutex>(ground, the);
    case 1:
      return addLocked<RecursiveMutex>(ground, the);
    default:
      return addLocked<mutex>(ground, the);
  }
}

uint64_t runSemaphore(const Ground& ground, Random random) {
  const Crowd the(random);
  const Semaphore permits(static_cast<uint32_t>(the.way + 1));
  std::atomic<int> numHeld{0};
  std::atomic<uint64_t> sum{0};
  ground.callTasks(the.tasks, [&](int task) {
    for (int round = 0; round < the.rounds; ++round) {
      if (round % 2 == 0) {
        permits.acquire();
      } else {
        while (!permits.try_acquire_for(microseconds(10 * round))) {
        }
      }
      require(++numHeld <= the.way + 1, "a semaphore gave too many permits");
      sum += the.value(task, round);
      --numHeld;
      permits.release();
    }
  });
  return sum;
}

// A ring of events passes a token round.
uint64_t runEvents(const Ground& ground, Random random) {
  const Crowd the(random);
  const std::vector<Event> ring = [&] {
    std::vector<Event> events;
    for (int i = 0; i < the.tasks; ++i) {
      events.emplace_back(Event::Mode::Auto, i == 0);
    }
    return events;
  }();
  uint64_t token = the.key;
  ground.callTasks(the.tasks, [&](int task) {
    const Event mine = ring[static_cast<size_t>(task)];
    const Event next = ring[static_cast<size_t>((task + 1) % the.tasks)];
    for (int round = 0; round < the.rounds; ++round) {
      if (the.way == 0) {
        while (!mine.wait_for(microseconds(50))) {
        }
      } else {
        mine.wait();
      }
      token = mix(token + static_cast<uint64_t>(task));
      next.signal();
    }
  });
  return token;
}

uint64_t expectEvents(Random random) {
  const Crowd the(random);
  uint64_t token = the.key;
  for (int i = 0; i < the.rounds * the.tasks; ++i) {
    token = mix(token + static_cast<uint64_t>(i % the.tasks));
  }
  return token;
}

// A queue of four, with as many who fill it as empty it.
uint64_t runQueue(const Ground& ground, Random random) {
  const Crowd the(random);
  mutex guard;
  ConditionVariable isFilled, isEmptied;
  std::deque<uint64_t> queue;
  uint64_t sum = 0;
  ground.callTasks(2 * the.tasks, [&](int task) {
    for (int round = 0; round < the.rounds; ++round) {
      lock held(guard);
      if (task < the.tasks) {
        isEmptied.wait(held, [&] { return queue.size() < 4; });
        queue.push_back(the.value(task, round));
        isFilled.notify_one();
      } else {
        while (!isFilled.wait_for(held, microseconds(20 * round), [&] { return !queue.empty(); })) {
        }
        sum += queue.front();
        queue.pop_front();
        isEmptied.notify_one();
      }
    }
  });
  return sum;
}

// Phases that all tasks begin together.
uint64_t runBarrier(const Ground& ground, Random random) {
  const Crowd the(random);
  uint64_t sum = 0;
  std::atomic<uint64_t> phase{0};
  const auto endPhase = [&]() noexcept { sum += phase.exchange(0); };
  Barrier barrier(the.tasks, endPhase);
  ground.callTasks(the.tasks, [&](int task) {
    for (int round = 0; round < the.rounds; ++round) {
      phase += the.value(task, round);
      barrier.arrive_and_wait();
    }
  });
  return sum;
}

// Two senders, one receiver that selects.
uint64_t runSelect(const Ground& ground, Random random) {
  const Pipeline the(random);
  const Channel<uint64_t> first(static_cast<size_t>(the.first)), second(static_cast<size_t>(the.second));
  const auto sendEach = [the](const Channel<uint64_t>& channel, int remainder) {
    for (int i = remainder; i < the.count; i += 2) {
      channel.send(mix(the.key + static_cast<uint64_t>(i)));
    }
    channel.close();
  };
  ground.spawn([=] { sendEach(first, 0); });
  ground.spawn([=] { sendEach(second, 1); });
  const Channel<uint64_t> never;
  bool isFirstOpen = true, isSecondOpen = true;
  uint64_t sum = 0;
  const auto add = [&sum](std::optional<uint64_t> value, bool& isOpen) {
    sum += value.value_or(0);
    isOpen = value.has_value();
  };
  while (isFirstOpen || isSecondOpen) {
    select(onReceive(isFirstOpen ? first : never,
                     [&](std::optional<uint64_t> value) { add(value, isFirstOpen); }),
           onReceive(isSecondOpen ? second : never,
                     [&](std::optional<uint64_t> value) { add(value, isSecondOpen); }),
           onTimeout(std::chrono::hours(1), [] { require(false, "a select has lost a wake"); }));
  }
  return sum;
}

uint64_t expectSelect(Random random) {
  const Pipeline the(random);
  return sumOf(the.count, the.key);
}

// Waits that nobody ends.
uint64_t runTimeouts(const Ground& ground, Random random) {
  const Crowd the(random);
  std::atomic<uint64_t> numOver{0};
  ground.callTasks(the.tasks, [&](int task) {
    const microseconds time(the.value(task, 0) % 2000);
    const auto begin = steady_clock::now();
    switch (the.value(task, 1) % 5) {
      case 0:
        numOver += Event().wait_for(time) ? 0 : 1;
        break;
      case 1:
        numOver += Semaphore().try_acquire_for(time) ? 0 : 1;
        break;
      case 2:
        numOver += Channel<int>().receive_for(time) ? 0 : 1;
        break;
      case 3:
        numOver += WaitGroup(1).wait_for(time) ? 0 : 1;
        break;
      default:
        sleep_for(time);
        ++numOver;
    }
    require(steady_clock::now() - begin >= time, "a wait ended early");
  });
  return numOver;
}

// Waits that a stop ends.
uint64_t runStops(const Ground& ground, Random random) {
  const Crowd the(random);
  std::stop_source source;
  std::atomic<uint64_t> numStopped{0};
  ground.spawn([source, delay = the.value(0, 0) % 200]() mutable {
    sleep_for(microseconds(delay));
    source.request_stop();
  });
  ground.callTasks(the.tasks, [&](int task) {
    const std::stop_token token = source.get_token();
    switch (the.value(task, 1) % 5) {
      case 0:
        numStopped += Event().wait(token) ? 0 : 1;
        break;
      case 1:
        numStopped += Semaphore().acquire(token) ? 0 : 1;
        break;
      case 2:
        numStopped += Channel<int>().receive(token) ? 0 : 1;
        break;
      case 3:
        numStopped += Channel<int>().send(1, token) ? 0 : 1;
        break;
      default:
        numStopped += sleep_for(std::chrono::hours(1), token) ? 0 : 1;
    }
  });
  return numStopped;
}

uint64_t expectTasks(Random random) { return static_cast<uint64_t>(Crowd(random).tasks); }

constexpr Operation kOperations[] = {
    {"pipeline of channels", runPipeline, expectPipeline},
    {"locks", runLocks, expectCrowd},
    {"semaphore", runSemaphore, expectCrowd},
    {"ring of events", runEvents, expectEvents},
    {"condition variables", runQueue, expectCrowd},
    {"barrier", runBarrier, expectCrowd},
    {"select", runSelect, expectSelect},
    {"timeouts", runTimeouts, expectTasks},
    {"stops", runStops, expectTasks},
};

}  // namespace

std::span<const Operation> waitingOperations() { return kOperations; }

}  // namespace weft::soak
