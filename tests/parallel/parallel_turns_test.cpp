// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <weft/dag.h>
#include <weft/event.h>
#include <weft/future.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/ticket.h>
#include <weft/waitgroup.h>

#include "in_task.h"
#include "spin_until.h"
#include "with_scheduler.h"

// How many steps of an algorithm come before what may run on its thread: a fiber that is ready, a timer that
// is due. A step is a call of the user's function.
namespace weft {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using tests::inTask;
using tests::spinFor;
using tests::spinUntil;

using Step = std::function<void()>;

// A piece that is measured takes some microseconds, and at least one step.
void asOnePiece(const Step& step) {
  spinFor(microseconds(20));
  step();
}

// An algorithm that calls step(), one call at a time where nobody shares it.
struct Algorithm {
  const char* name;
  size_t stepsPerPiece;  // at most
  void (*run)(const Step& step);
};

constexpr int kSteps = 1000;

std::vector<int> scrambled() {
  std::vector<int> values(kSteps);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(i * 7919 % values.size());
  }
  return values;
}

auto valueOf(const Step& step) {
  return [&step](int value) {
    step();
    return value;
  };
}
auto asOnePieceOf(const Step& step) {
  return [&step](int value) {
    asOnePiece(step);
    return value;
  };
}
auto plusAsOnePiece(const Step& step) {
  return [&step](int a, int b) {
    asOnePiece(step);
    return a + b;
  };
}
auto lessWith(const Step& step) {
  return [&step](auto a, auto b) {
    step();
    return a < b;
  };
}

const Algorithm kAlgorithms[] = {
    {"LoopWithoutGrain", 1, [](const Step& step) { parallelFor(0, kSteps, [&](int) { asOnePiece(step); }); }},
    {"LoopWithGrain", 1,
     [](const Step& step) { parallelFor(autoPartitioner(irange(0, kSteps), 1), [&](int) { step(); }); }},
    {"LoopOfStaticParts", 1,
     [](const Step& step) {
       parallelFor(staticPartitioner(irange(0, kSteps)), [&](int) { asOnePiece(step); });
     }},
    {"LoopOfStaticGrains", 1,
     [](const Step& step) { parallelFor(staticPartitioner(irange(0, kSteps), 1), [&](int) { step(); }); }},
    {"ReductionWithoutGrain", 1,
     [](const Step& step) { parallelMapReduce(irange(0, kSteps), 0, asOnePieceOf(step)); }},
    {"ReductionWithGrain", 1,
     [](const Step& step) { parallelMapReduce(autoPartitioner(irange(0, kSteps), 1), 0, valueOf(step)); }},
    {"ReductionOfStaticParts", 1,
     [](const Step& step) {
       parallelMapReduce(staticPartitioner(irange(0, kSteps)), 0, asOnePieceOf(step));
     }},
    {"Scan", 1,
     [](const Step& step) {
       std::vector<int> values(kSteps, 1);
       parallelScan(values, values.begin(), plusAsOnePiece(step), 0);
     }},
    {"ExclusiveScan", 1,
     [](const Step& step) {
       std::vector<int> values(kSteps, 1);
       parallelExclusiveScan(values, values.begin(), 0, plusAsOnePiece(step));
     }},
    {"Transform", 1,
     [](const Step& step) {
       std::vector<int> values(kSteps, 1);
       parallelTransform(staticPartitioner(values), values.begin(), asOnePieceOf(step));
     }},
    {"Sort", 128,
     [](const Step& step) {
       std::vector<int> values = scrambled();
       parallelSort(values, lessWith(step));
     }},
    {"SortOfObjects", 128,
     [](const Step& step) {
       std::vector<std::string> values;
       for (const int value : scrambled()) {
         values.push_back(std::to_string(value));
       }
       parallelSort(values, [&](const std::string& a, const std::string& b) noexcept {
         step();
         return a < b;
       });
     }},
    {"SortOfWhatIsSorted", 128,
     [](const Step& step) {
       std::vector<int> values(20 * kSteps);
       std::iota(values.begin(), values.end(), 0);
       parallelSort(values, lessWith(step));
     }},
    {"StableSort", 128,
     [](const Step& step) {
       std::vector<int> values = scrambled();
       parallelStableSort(values, lessWith(step));
     }},
    {"Merge", 128,
     [](const Step& step) {
       std::vector<int> values(kSteps), merged(2 * kSteps);
       std::iota(values.begin(), values.end(), 0);
       parallelMerge(values, values, merged.begin(), lessWith(step));
     }},
    {"CopyIf", 1,
     [](const Step& step) {
       const std::vector<int> values(kSteps, 1);
       std::vector<int> copies(kSteps);
       parallelCopyIf(values, copies.begin(), [&step](int) {
         asOnePiece(step);
         return true;
       });
     }},
    {"Find", 1,
     [](const Step& step) {
       (void)parallelFind(autoPartitioner(irange(0, kSteps), 1), [&](int) {
         step();
         return false;
       });
     }},
    {"PipelineOfSerialStages", 1,
     [](const Step& step) {
       int made = 0;
       parallelPipeline(4, serialStage([&]() -> std::optional<int> {
                          step();
                          return made < kSteps ? std::optional<int>(made++) : std::nullopt;
                        }),
                        serialStage([&](int) { step(); }));
     }},
    {"PipelineOfParallelStages", 1,
     [](const Step& step) {
       int made = 0;
       parallelPipeline(
           1, serialStage([&] { return made < kSteps ? std::optional<int>(made++) : std::nullopt; }),
           parallelStage(valueOf(step)), parallelStage([&](int) { step(); }));
     }},
    {"ChainOfNodes", 1,
     [](const Step& step) {
       DAG<>::Builder builder;
       auto node = builder.root();
       for (int i = 0; i < kSteps; ++i) {
         node = node.then(step);
       }
       builder.build()->run();
     }},
    {"FanOfNodes", 1,
     [](const Step& step) {
       DAG<>::Builder builder;
       auto last = builder.node([] {});
       for (int i = 0; i < kSteps; ++i) {
         builder.addDependency(builder.root().then(step), last);
       }
       builder.build()->run();
     }},
    {"RowOfSmallGraphs", 1,
     [](const Step& step) {
       DAG<>::Builder builder;
       builder.root().then(step);
       const auto dag = builder.build();
       for (int i = 0; i < kSteps; ++i) {
         dag->run();
       }
     }},
    {"CallsOfATicket", 1,
     [](const Step& step) {
       Ticket::Queue queue;
       const Ticket first = queue.take(), second = queue.take();
       WaitGroup called(kSteps);
       for (int i = 0; i < kSteps; ++i) {
         second.onCall([&step, called] {
           step();
           called.done();
         });
       }
       first.done();
       called.wait();
       second.done();
     }},
    {"Group", 1,
     [](const Step& step) {
       TaskGroup group;
       for (int i = 0; i < kSteps; ++i) {
         group.run(step);
       }
       group.wait();
     }},
    {"RowOfFutures", 1,
     [](const Step& step) {
       for (int i = 0; i < kSteps; ++i) {
         async(step).get();
       }
     }},
};

class ParallelTurnsTest : public ::testing::TestWithParam<std::tuple<int, Algorithm>> {
 protected:
  // Runs the algorithm in a task, with one worker or none. Its first step calls begin().
  // Returns: how many steps had been taken when `other`, a task of the same thread, had its turn.
  template <class Begin, class Other>
  static size_t stepsBefore(Begin&& begin, Other&& other) {
    Scheduler scheduler(tests::smallConfig(std::get<0>(GetParam())));
    const Scheduler::Binding binding(scheduler);
    size_t taken = 0, before = 0;
    inTask([&] {
      WaitGroup ended(1);
      schedule([&] {
        other();
        before = taken;
        ended.done();
      });
      yield();
      std::get<1>(GetParam()).run([&] {
        if (taken == 0) {
          begin();
        }
        ++taken;
      });
      ended.wait();
    });
    return before;
  }

  static size_t stepsPerPiece() { return std::get<1>(GetParam()).stepsPerPiece; }
};

INSTANTIATE_TEST_SUITE_P(Algorithms, ParallelTurnsTest,
                         ::testing::Combine(::testing::Values(0, 1), ::testing::ValuesIn(kAlgorithms)),
                         [](const auto& parameter) {
                           return std::string(std::get<1>(parameter.param).name) + "On" +
                                  (std::get<0>(parameter.param) == 0 ? "ABoundThread" : "AWorker");
                         });

TEST_P(ParallelTurnsTest, AFiberThatIsReadyRunsAfterSixtyOnePieces) {
  Event event;
  const size_t before = stepsBefore([&] { event.signal(); }, [&] { event.wait(); });
  EXPECT_GT(before, 0u);
  EXPECT_LE(before, 62 * stepsPerPiece());
}

TEST_P(ParallelTurnsTest, AFiberWhoseTimeHasComeRunsAfterTheNextPiece) {
  steady_clock::time_point due;
  size_t before = 0;
  // Where the thread is kept off its processor, or takes long to build a graph, the time comes before the
  // algorithm begins.
  for (auto time = milliseconds(1); before == 0; time *= 2) {
    before = stepsBefore([&] { spinUntil(due); },
                         [&] {
                           due = steady_clock::now() + time;
                           sleep_until(due);
                         });
  }
  EXPECT_LE(before, 2 * stepsPerPiece());
}

// Iterations that are over at once, and then such as take 20 us: the piece that the former were measured for
// would be of thousands of the latter.
TEST(ParallelTurnsOfThreadTest, ATimerIsServedSoonWhereIterationsBecomeFarDearer) {
  constexpr size_t kCheap = 300'000, kDear = 2000;
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1));
  const Scheduler::Binding binding(scheduler);
  inTask([&] {
    std::atomic<bool> isServed{false};
    WaitGroup ended(1);
    const auto due = steady_clock::now() + milliseconds(5);
    schedule([&] {
      sleep_until(due);
      isServed = true;
      ended.done();
    });
    yield();
    size_t numLate = 0;
    volatile size_t sum = 0;
    parallelFor(size_t{0}, kCheap + kDear, [&](size_t i) {
      if (i < kCheap) {
        sum = sum + i;
        return;
      }
      spinFor(microseconds(20));
      numLate += !isServed && steady_clock::now() >= due ? 1 : 0;
    });
    ended.wait();
    EXPECT_LE(numLate, 256u + 2);
  });
}

TEST(ParallelTurnsOfThreadTest, ATimerOfABoundThreadIsServedDuringItsLoop) {
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(0));
  const Scheduler::Binding binding(scheduler);
  size_t run = 0, before = 0;
  WaitGroup ended(1);
  schedule([&] {
    sleep_for(milliseconds(1));
    before = run;
    ended.done();
  });
  yield();
  parallelFor(0, 100, [&](int i) {
    spinFor(i == 0 ? microseconds(20'000) : microseconds(20));
    ++run;
  });
  ended.wait();
  EXPECT_LE(before, 2u);
}

}  // namespace
}  // namespace weft
