// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/workerlocal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/parallel.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "live_objects.h"
#include "waiting.h"

namespace weft {
namespace {

using tests::Crew;
using tests::Kind;
using tests::LiveObject;
using tests::scaled;

class WorkerLocalTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(WorkerLocalTest);

// Runs f(i) on `count` threads, all of which live until all have called it.
template <class F>
void onThreadsAtOnce(int count, F f) {
  std::latch called(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      f(i);
      called.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

template <class T>
int numValues(WorkerLocal<T>& values) {
  int count = 0;
  values.forEach([&](const T&) { ++count; });
  return count;
}

// The example of the header.
TEST_P(WorkerLocalTest, KeepsTheExampleOfItsHeader) {
  std::vector<unsigned char> bytes(100'000);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(i % 250);
  }
  weft::WorkerLocal<std::array<int, 256>> counts;
  weft::parallelFor(bytes, [&](unsigned char byte) { ++counts.local()[byte]; });
  const auto add = [](std::array<int, 256> sum, const std::array<int, 256>& part) {
    std::transform(sum.begin(), sum.end(), part.begin(), sum.begin(), std::plus());
    return sum;
  };
  const std::array<int, 256> histogram = counts.combine({}, add);
  for (size_t byte = 0; byte < histogram.size(); ++byte) {
    EXPECT_EQ(histogram[byte], byte < 250 ? 400 : 0);
  }
}

TEST_P(WorkerLocalTest, CombineHasWhatTasksBoundThreadsAndOtherThreadsAdded) {
  const int rounds = scaled(2'000, 300);
  WorkerLocal<int64_t> sum;
  {
    Crew crew(scheduler());
    for (int i = 0; i < 12; ++i) {
      crew.start(tests::kindOf(i), [&] {
        for (int round = 1; round <= rounds; ++round) {
          sum.local() += round;
          if (round % 64 == 0) {
            yield();
          }
        }
      });
    }
  }
  EXPECT_EQ(sum.combine(0, std::plus()), int64_t{12} * rounds * (rounds + 1) / 2);
  EXPECT_EQ(sum.combine(1, std::plus()), int64_t{12} * rounds * (rounds + 1) / 2 + 1);
}

TEST_P(WorkerLocalTest, TasksHaveTheValueOfTheirThread) {
  WorkerLocal<std::set<std::thread::id>> users;
  const WaitGroup done(300);
  for (int i = 0; i < 300; ++i) {
    schedule([&, done] {
      auto* const before = &users.local();
      before->insert(std::this_thread::get_id());
      yield();
      EXPECT_EQ(&users.local(), before);
      done.done();
    });
  }
  done.wait();
  int numUsers = 0;
  users.forEach([&](const std::set<std::thread::id>& threads) {
    EXPECT_EQ(threads.size(), 1u);
    ++numUsers;
  });
  EXPECT_GE(numUsers, 1);
  EXPECT_LE(numUsers, numWorkers() + 1);
}

TEST_P(WorkerLocalTest, WhereTheFactoryWaitsTheFirstValueStays) {
  const int aliveBefore = LiveObject::numAlive;
  const Event isWaiting, goOn;
  {
    int numCalls = 0;
    WorkerLocal<LiveObject> values([&] {
      const int call = ++numCalls;
      if (call == 1) {
        isWaiting.signal();
        goOn.wait();
      }
      return LiveObject(call);
    });
    const WaitGroup done(1);
    schedule(Task(
        [&, done] {
          EXPECT_EQ(values.local().value, 2);
          done.done();
        },
        Task::Flags::SameThread));
    isWaiting.wait();
    LiveObject& second = values.local();
    EXPECT_EQ(second.value, 2);
    goOn.signal();
    done.wait();
    EXPECT_EQ(&values.local(), &second);
    EXPECT_EQ(numCalls, 2);
    EXPECT_EQ(LiveObject::numAlive, aliveBefore + 1);
  }
  EXPECT_EQ(LiveObject::numAlive, aliveBefore);
}

TEST(WorkerLocalOfThreadsTest, WithoutValuesCombineGivesInitAsAT) {
  const WorkerLocal<double> none;
  EXPECT_EQ(none.combine(3, std::plus()), 3.0);
  WorkerLocal<double> halves([] { return 0.5; });
  halves.local();
  EXPECT_EQ(halves.combine(0, std::plus()), 0.5);
}

TEST(WorkerLocalOfThreadsTest, ValuesShareNoCacheLineAndStayWhileTheTableGrows) {
  WorkerLocal<char> values;
  char* const first = &values.local();
  std::vector<uintptr_t> lines(100);
  onThreadsAtOnce(100, [&](int i) {
    char* const mine = &values.local();
    EXPECT_EQ(*mine, '\0');
    *mine = 'x';
    lines[static_cast<size_t>(i)] = reinterpret_cast<uintptr_t>(mine) / 64;
    EXPECT_EQ(&values.local(), mine);
  });
  EXPECT_EQ(&values.local(), first);
  lines.push_back(reinterpret_cast<uintptr_t>(first) / 64);
  EXPECT_EQ(std::set<uintptr_t>(lines.begin(), lines.end()).size(), 101u);
  EXPECT_EQ(numValues(values), 101);
}

TEST(WorkerLocalOfThreadsTest, ValuesOfAnySizeBeginCacheLines) {
  WorkerLocal<char> small;
  WorkerLocal<std::array<char, 70>> middle;
  WorkerLocal<std::array<char, 130>> large;
  onThreadsAtOnce(50, [&](int) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&small.local()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&middle.local()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&large.local()) % 64, 0u);
  });
}

TEST(WorkerLocalOfThreadsTest, AThreadThatBeginsLaterTakesTheValueOver) {
  const int numThreads = scaled(2'000, 200);
  const int aliveBefore = LiveObject::numAlive;
  {
    WorkerLocal<LiveObject> values;
    for (int i = 0; i < numThreads; ++i) {
      std::thread([&] { ++values.local().value; }).join();
      ASSERT_EQ(LiveObject::numAlive, aliveBefore + 1);
    }
    values.forEach([&](const LiveObject& object) { EXPECT_EQ(object.value, numThreads); });
  }
  EXPECT_EQ(LiveObject::numAlive, aliveBefore);
}

TEST(WorkerLocalOfThreadsTest, ThereAreAtMostAsManyValuesAsThreadsAtOneTime) {
  WorkerLocal<int> values;
  for (int round = 0; round < scaled(50, 10); ++round) {
    onThreadsAtOnce(20, [&](int) { ++values.local(); });
  }
  EXPECT_EQ(numValues(values), 20);
  EXPECT_EQ(values.combine(0, std::plus()), 20 * scaled(50, 10));
}

TEST(WorkerLocalOfThreadsTest, AThreadLocalObjectMayUseItWhileTheThreadEnds) {
  static std::optional<WorkerLocal<int>> values(std::in_place);
  struct CountsItsEnd {
    ~CountsItsEnd() { ++values->local(); }
  };
  for (int i = 0; i < 10; ++i) {
    std::thread([] {
      static thread_local CountsItsEnd late;  // made before the thread has a place, and destroyed after it
      (void)&late;
      ++values->local();
    }).join();
  }
  EXPECT_EQ(values->combine(0, std::plus()), 20);
  // Had a thread kept a place for ever, the next one would have made a value.
  EXPECT_EQ(numValues(*values), 1);
  values.reset();
}

TEST(WorkerLocalOfThreadsTest, AThreadThatEndsSharesNoValueWithTheOneThatTookItsPlace) {
  static std::optional<WorkerLocal<int>> values(std::in_place);
  static std::latch hasGivenBack(1), hasTaken(1), hasCompared(1);
  static std::atomic<int*> taken;
  struct ComparesAtItsEnd {
    ~ComparesAtItsEnd() {
      hasGivenBack.count_down();
      hasTaken.wait();
      EXPECT_NE(&values->local(), taken);
      hasCompared.count_down();
    }
  };
  std::thread ends([] {
    static thread_local ComparesAtItsEnd late;  // made before the thread has a place, and destroyed after it
    (void)&late;
    values->local();
  });
  std::thread([] {
    hasGivenBack.wait();
    taken = &values->local();
    hasTaken.count_down();
    hasCompared.wait();
  }).join();
  ends.join();
  EXPECT_EQ(numValues(*values), 2);
  values.reset();
}

TEST(WorkerLocalOfThreadsTest, ObjectsOfOneThreadAreApart) {
  WorkerLocal<int> ones([] { return 1; }), twos([] { return 2; });
  EXPECT_EQ(ones.local(), 1);
  EXPECT_EQ(twos.local(), 2);
  ++ones.local();
  EXPECT_EQ(ones.local(), 2);
  EXPECT_NE(&ones.local(), &twos.local());
}

TEST(WorkerLocalOfThreadsTest, ValuesMayBeMoveOnlyImmovableLargeAndOveraligned) {
  struct Immovable {
    explicit Immovable(int number) : value(number) {}
    Immovable(Immovable&&) = delete;
    const int value;
  };
  struct alignas(256) Large {
    char bytes[1024] = {};
  };
  WorkerLocal<std::unique_ptr<int>> pointers([] { return std::make_unique<int>(3); });
  WorkerLocal<Immovable> immovable([] { return Immovable(4); });
  WorkerLocal<Large> large;
  onThreadsAtOnce(3, [&](int) {
    EXPECT_EQ(*pointers.local(), 3);
    EXPECT_EQ(immovable.local().value, 4);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&large.local()) % 256, 0u);
    large.local().bytes[1023] = 1;
  });
  const auto sum =
      pointers.combine(nullptr, [](std::unique_ptr<int> whole, const std::unique_ptr<int>& part) {
        return std::make_unique<int>((whole != nullptr ? *whole : 0) + *part);
      });
  EXPECT_EQ(*sum, 9);
  std::vector<std::unique_ptr<int>> taken;
  pointers.forEach([&](std::unique_ptr<int>& pointer) { taken.push_back(std::move(pointer)); });
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_EQ(numValues(immovable), 3);
}

#if defined(__cpp_exceptions)
TEST(WorkerLocalOfThreadsTest, AFactoryThatThrowsLeavesNothing) {
  const int aliveBefore = LiveObject::numAlive;
  {
    std::atomic<bool> fails{true};
    WorkerLocal<LiveObject> values([&] {
      const LiveObject part(1);
      return fails ? throw std::runtime_error("no value") : LiveObject(5);
    });
    EXPECT_THROW(values.local(), std::runtime_error);
    EXPECT_THROW(values.local(), std::runtime_error);
    EXPECT_EQ(numValues(values), 0);
    EXPECT_EQ(LiveObject::numAlive, aliveBefore);
    fails = false;
    EXPECT_EQ(values.local().value, 5);
    EXPECT_EQ(LiveObject::numAlive, aliveBefore + 1);
  }
  EXPECT_EQ(LiveObject::numAlive, aliveBefore);
}

// A leak checker sees memory that comes from operator new.
TEST(WorkerLocalOfThreadsTest, AFactoryThatThrowsLeavesNoMemory) {
  using Large = std::array<char, 1000>;
  WorkerLocal<Large> values([]() -> Large { throw std::runtime_error("no value"); });
  for (int i = 0; i < 10; ++i) {
    EXPECT_THROW(values.local(), std::runtime_error);
  }
}

TEST(WorkerLocalOfThreadsTest, AnOperationThatThrowsLeavesTheValues) {
  WorkerLocal<int> values([] { return 7; });
  onThreadsAtOnce(3, [&](int) { values.local(); });
  int numCalls = 0;
  const auto failing = [&](int sum, const int& value) {
    return ++numCalls == 2 ? throw std::runtime_error("no sum") : sum + value;
  };
  EXPECT_THROW(values.combine(0, failing), std::runtime_error);
  EXPECT_EQ(numCalls, 2);
  EXPECT_EQ(values.combine(0, std::plus()), 21);
}
#endif

using WorkerLocalDeathTest = tests::DeathTest;

TEST_F(WorkerLocalDeathTest, AFactoryThatUsesItsOwnValue) {
  EXPECT_DEATH(
      {
        WorkerLocal<int>* self = nullptr;
        WorkerLocal<int> values([&] { return self->local(); });
        self = &values;
        values.local();
      },
      "the factory of a WorkerLocal used the value that it is to make");
}

}  // namespace
}  // namespace weft
