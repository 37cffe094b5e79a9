// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/dag.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "async/dag_journal.h"
#include "crew.h"
#include "with_scheduler.h"

namespace weft {
namespace {

using tests::adds;
using tests::Crew;
using tests::Journal;
using tests::Kind;
using tests::scaled;

class DAGTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(DAGTest);

TEST_P(DAGTest, AChainRunsInItsOrder) {
  DAG<Journal&>::Builder builder;
  builder.root().then(adds("a")).then(adds("b")).then(adds("c"));
  auto dag = builder.build();
  Journal journal;
  dag->run(journal);
  EXPECT_EQ(journal.names, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_P(DAGTest, ANodeRunsAfterAllThatItDependsOn) {
  DAG<Journal&>::Builder builder;
  auto root = builder.root();
  auto a = root.then(adds("a")), b = root.then(adds("b"));
  auto c = builder.node(adds("c"), {a, b});
  auto d = builder.node(adds("d"));
  auto e = builder.node(adds("e"), {c, d, root});
  builder.addDependency(a, d);
  builder.addDependency(e, builder.node(adds("f"), {b}));
  auto dag = builder.build();
  for (int i = 0; i < 20; ++i) {
    Journal journal;
    dag->run(journal);
    EXPECT_EQ(journal.names.size(), 6u);
    const auto isBefore = [&](const char* first, const char* second) {
      EXPECT_LT(journal.placeOf(first), journal.placeOf(second)) << first << ", " << second;
    };
    isBefore("a", "c");
    isBefore("b", "c");
    isBefore("a", "d");
    isBefore("c", "e");
    isBefore("d", "e");
    isBefore("e", "f");
  }
}

TEST_P(DAGTest, RunsWithoutDataAndWithoutNodes) {
  DAG<>::Builder().build()->run();
  DAG<>::Builder builder;
  std::atomic<int> numCalls{0};
  auto first = builder.root().then([&] { ++numCalls; });
  for (int i = 0; i < 10; ++i) {
    first.then([&] { ++numCalls; });
  }
  auto dag = builder.build();
  for (int i = 1; i <= 10; ++i) {
    dag->run();
    EXPECT_EQ(numCalls, 11 * i);
  }
}

TEST_P(DAGTest, PassesOnDataOfEveryKind) {
  int number = 0;
  DAG<int>::Builder byName;
  byName.root().then([](int& n) { n += 1; }).then([](int n) { EXPECT_EQ(n, 1); }).then([](const int& n) {
    EXPECT_EQ(n, 1);
  });
  byName.build()->run(number);
  EXPECT_EQ(number, 1);

  const std::string text = "text";
  DAG<const std::string&>::Builder constant;
  constant.root().then([&](const std::string& data) { EXPECT_EQ(&data, &text); });
  constant.build()->run(text);

  auto pointer = std::make_unique<int>(7);
  DAG<std::unique_ptr<int>&>::Builder moveOnly;
  moveOnly.root().then([](std::unique_ptr<int>& data) { ++*data; });
  moveOnly.build()->run(pointer);
  EXPECT_EQ(*pointer, 8);
}

TEST_P(DAGTest, FunctionsMayBeMutableMoveOnlyAndLarge) {
  TrackedAllocator tracked(Allocator::Default);
  {
    DAG<int&>::Builder builder(&tracked);
    struct alignas(64) Large {
      std::array<int, 40> numbers{};
    };
    auto node = builder.root();
    for (int i = 0; i < 100; ++i) {
      node = node.then([own = std::make_unique<int>(0)](int& sum) mutable { sum += ++*own; });
      node = node.then([large = Large()](int& sum) mutable { sum += ++large.numbers[7]; });
    }
    auto dag = builder.build();
    for (int round = 1; round <= 3; ++round) {
      int sum = 0;
      dag->run(sum);
      EXPECT_EQ(sum, 200 * round);
    }
    DAG<int&>::Builder neverBuilt(&tracked);
    neverBuilt.root().then([large = Large()](int&) { (void)large; });
  }
  tests::expectNothingAllocated(tracked);
}

TEST_P(DAGTest, SeveralRunsMayGoOnAtOnce) {
  struct Sums {
    std::atomic<int> first{0};
    int last = 0;
  };
  constexpr int kWide = 50;
  DAG<Sums&>::Builder builder;
  auto last = builder.node([](Sums& sums) { sums.last = sums.first; });
  for (int i = 0; i < kWide; ++i) {
    builder.addDependency(builder.root().then([](Sums& sums) { ++sums.first; }), last);
  }
  auto dag = builder.build();
  Crew crew(scheduler());
  for (int i = 0; i < 20; ++i) {
    crew.start(i % 2 == 0 ? Kind::Task : Kind::BoundThread, [&] {
      for (int round = 0; round < scaled(30, 10); ++round) {
        Sums sums;
        dag->run(sums);
        EXPECT_EQ(sums.last, kWide);
      }
    });
  }
}

// Nodes that do not depend on each other may wait for each other, however many they are.
TEST_P(DAGTest, NodesThatAreReadyRunThoughOthersAreBlocked) {
  constexpr size_t kNodes = 40;
  for (const bool isUpwards : {false, true}) {
    std::vector<Event> events(kNodes + 1);
    DAG<>::Builder builder;
    for (size_t i = 0; i < kNodes; ++i) {
      const size_t from = isUpwards ? i : kNodes - i, to = isUpwards ? i + 1 : kNodes - i - 1;
      builder.root().then([&events, from, to] {
        events[from].wait();
        events[to].signal();
      });
    }
    events[isUpwards ? 0 : kNodes].signal();
    builder.build()->run();
    EXPECT_TRUE(events[isUpwards ? kNodes : 0].isSignalled());
  }
}

TEST_P(DAGTest, AnExceptionReachesTheCallerOfRun) {
  std::atomic<int> numCalls{0};
  bool throws = true;
  DAG<>::Builder builder;
  auto thrower = builder.root().then([&] {
    if (throws) {
      throw std::runtime_error("no");
    }
  });
  auto later = thrower;
  for (int i = 0; i < 20; ++i) {
    later = later.then([&] { ++numCalls; });
  }
  for (int i = 0; i < 20; ++i) {
    thrower.then([&] { ++numCalls; });
  }
  auto dag = builder.build();
  for (int round = 0; round < 3; ++round) {
    EXPECT_THROW(dag->run(), std::runtime_error);
    EXPECT_EQ(numCalls, 0);
  }
  throws = false;
  dag->run();
  EXPECT_EQ(numCalls, 40);
}

TEST_P(DAGTest, OfSeveralExceptionsOneReachesTheCaller) {
  DAG<>::Builder builder;
  for (int i = 0; i < 30; ++i) {
    builder.root().then([i] { throw i; });
  }
  auto dag = builder.build();
  EXPECT_THROW(dag->run(), int);
}

// Both have begun before either throws.
TEST_P(DAGTest, OfTwoExceptionsAtTheSameTimeOneReachesTheCaller) {
  DAG<>::Builder builder;
  const WaitGroup bothHaveBegun;
  for (int i = 0; i < 2; ++i) {
    builder.root().then([=] {
      bothHaveBegun.done();
      bothHaveBegun.wait();
      throw i;
    });
  }
  auto dag = builder.build();
  for (int round = 0; round < 2; ++round) {
    bothHaveBegun.add(2);
    EXPECT_THROW(dag->run(), int);
  }
}

TEST_P(DAGTest, ANodeWhoseFunctionThrowsWhenItIsMovedWasNotAdded) {
  struct Throwing {
    Throwing() = default;
    Throwing(Throwing&&) { throw std::runtime_error("moved"); }
    void operator()() const {}
  };
  DAG<>::Builder builder;
  int numRun = 0;
  const auto first = builder.root().then([&] { ++numRun; });
  EXPECT_THROW(builder.node(Throwing(), {first}), std::runtime_error);
  first.then([&] { ++numRun; });
  builder.build()->run();
  EXPECT_EQ(numRun, 2);
}

TEST_P(DAGTest, ALongChainNeedsNoStack) {
  const int length = scaled(1'000'000, 100'000);
  DAG<int&>::Builder builder;
  auto node = builder.root();
  for (int i = 0; i < length; ++i) {
    node = node.then([](int& count) { ++count; });
  }
  auto dag = builder.build();
  const Event done;
  int count = 0;
  schedule([&, done] {
    dag->run(count);
    done.signal();
  });
  done.wait();
  EXPECT_EQ(count, length);
}

// A grid in which each node adds up what the one above and the one to the left have.
TEST_P(DAGTest, AGridComputesWhatALoopComputes) {
  constexpr size_t kSide = 60;
  using Grid = std::vector<uint64_t>;
  Grid expected(kSide * kSide);
  const auto compute = [](Grid& grid, size_t row, size_t column) {
    const uint64_t above = row > 0 ? grid[(row - 1) * kSide + column] : 1;
    const uint64_t left = column > 0 ? grid[row * kSide + column - 1] : 1;
    grid[row * kSide + column] = above * 31 + left;
  };
  DAG<Grid&>::Builder builder;
  std::vector<DAG<Grid&>::NodeBuilder> nodes;
  for (size_t row = 0; row < kSide; ++row) {
    for (size_t column = 0; column < kSide; ++column) {
      compute(expected, row, column);
      nodes.push_back(builder.node([=](Grid& grid) { compute(grid, row, column); }));
      if (row + column == 0) {
        builder.addDependency(builder.root(), nodes.back());
      }
      if (row > 0) {
        builder.addDependency(nodes[(row - 1) * kSide + column], nodes.back());
      }
      if (column > 0) {
        builder.addDependency(nodes[row * kSide + column - 1], nodes.back());
      }
    }
  }
  auto dag = builder.build();
  for (int round = 0; round < scaled(20, 5); ++round) {
    Grid grid(kSide * kSide);
    dag->run(grid);
    EXPECT_EQ(grid, expected);
  }
}

struct Image {
  std::atomic<int> red{0}, blue{0};
  bool isLoaded = false, isSaved = false;
};
void load(Image& image) { image.isLoaded = true; }
void equalize(std::atomic<int>& colour) { ++colour; }
void save(Image& image) { image.isSaved = image.isLoaded && image.red == 1 && image.blue == 1; }

TEST_P(DAGTest, TheExampleOfTheHeaderTreatsItsImages) {
  std::array<Image, 3> images;

  weft::DAG<Image&>::Builder builder;
  auto loaded = builder.root().then([](Image& image) { load(image); });
  auto red = loaded.then([](Image& image) { equalize(image.red); });
  auto blue = loaded.then([](Image& image) { equalize(image.blue); });
  builder.node([](Image& image) { save(image); }, {red, blue});
  auto dag = builder.build();
  for (Image& image : images) {
    dag->run(image);
  }

  for (const Image& image : images) {
    EXPECT_TRUE(image.isSaved);
  }
}

TEST_P(DAGTest, AfterAStopNoNodeBeginsAndRunTellsSo) {
  std::stop_source source;
  bool stops = true;
  std::atomic<int> numCalled{0};
  DAG<>::Builder builder;
  const auto first = builder.root().then([&] {
    ++numCalled;
    if (stops) {
      source.request_stop();
    }
  });
  const auto last = builder.node([&] { ++numCalled; });
  for (int i = 0; i < 20; ++i) {
    builder.addDependency(first.then([&] { ++numCalled; }), last);
  }
  auto dag = builder.build();
  EXPECT_FALSE(dag->run(source.get_token()));
  EXPECT_EQ(numCalled, 1);
  EXPECT_FALSE(dag->run(source.get_token()));  // before it begins
  EXPECT_EQ(numCalled, 1);
  stops = false;
  source = std::stop_source();
  for (const std::stop_token& token : {source.get_token(), std::stop_token()}) {
    numCalled = 0;
    EXPECT_TRUE(dag->run(token));
    EXPECT_EQ(numCalled, 22);
  }
  dag->run();
  EXPECT_EQ(numCalled, 44);
}

// The stop comes while a node waits, and run() must wait for that node.
TEST_P(DAGTest, AStoppedRunReturnsAfterTheNodesThatRun) {
  std::stop_source source;
  const Event begun, end;
  std::atomic<bool> hasEnded{false}, hasBegunLater{false};
  DAG<>::Builder builder;
  builder.root()
      .then([&] {
        begun.signal();
        end.wait();
        hasEnded = true;
      })
      .then([&] { hasBegunLater = true; });
  auto dag = builder.build();
  schedule([=]() mutable {
    begun.wait();
    source.request_stop();
    end.signal();
  });
  EXPECT_FALSE(dag->run(source.get_token()));
  EXPECT_TRUE(hasEnded);
  EXPECT_FALSE(hasBegunLater);
}

TEST_P(DAGTest, AnExceptionBeforeAStopReachesTheCallerOfRun) {
  std::stop_source source;
  DAG<>::Builder builder;
  builder.root()
      .then([&] {
        source.request_stop();
        throw std::runtime_error("no");
      })
      .then([] { ADD_FAILURE() << "called"; });
  auto dag = builder.build();
  EXPECT_THROW(dag->run(source.get_token()), std::runtime_error);
  EXPECT_FALSE(dag->run(source.get_token()));
}

class DAGDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(DAGDeathTest, ACycle) {
  EXPECT_DEATH(
      {
        DAG<>::Builder builder;
        auto one = builder.root().then([] {});
        auto two = one.then([] {});
        auto three = two.then([] {});
        builder.addDependency(three, two);
        three.then([] {});
        (void)builder.build();
      },
      "node [23] depends on itself, by way of node [23], and would never run.*of the cycle");
  EXPECT_DEATH(
      {
        DAG<>::Builder builder;
        auto one = builder.root().then([] {});
        builder.addDependency(one, one);
        (void)builder.build();
      },
      "node 1 depends on itself, by way of node 1,");
}

TEST_F(DAGDeathTest, TheMessagesNameTheNodes) {
  EXPECT_DEATH(
      {
        DAG<>::Builder builder;
        auto load = builder.root().then([] {}).setName("load");
        builder.addDependency(load.then([] {}).setName("save"), load);
        (void)builder.build();
      },
      "node (1 \"load\" depends on itself, by way of node 2 \"save\""
      "|2 \"save\" depends on itself, by way of node 1 \"load\"),");
  EXPECT_DEATH(
      {
        DAG<>::Builder builder;
        builder.node([] {}).setName("lost");
        (void)builder.build();
      },
      "node 1 \"lost\" depends on nothing");
  EXPECT_DEATH(
      {
        DAG<>::Builder builder;
        builder.addDependency(builder.root().then([] {}).setName("last"), builder.root());
      },
      "the root cannot depend on node 1 \"last\"");
}

TEST_F(DAGDeathTest, AChoiceOfWhatIsNotThere) {
  for (const int wrong : {-1, 1}) {
    EXPECT_DEATH(
        {
          Scheduler scheduler(tests::smallConfig(0));
          Scheduler::Binding bound(scheduler);
          DAG<>::Builder builder;
          const auto only = builder.node([] {});
          builder.choice([=] { return wrong; }, {only}, {builder.root()}).setName("which");
          builder.build()->run();
        },
        "the function of node 2 \"which\", which chooses, returned " + std::to_string(wrong) +
            ". It has 1 nodes to choose from");
  }
  EXPECT_DEATH(DAG<>::Builder().choice([] { return 0; }, {}), "was given no nodes to choose from");
}

TEST_F(DAGDeathTest, AFunctionThatUnbindsItsThread) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(0));
        scheduler.bind();
        DAG<>::Builder builder;
        builder.root().then([] { Scheduler::unbind(); }).then([] {});
        builder.build()->run();
      },
      "unbind.. was called in a function of a DAG");
}

TEST_F(DAGDeathTest, ANodeThatDependsOnNothing) {
  EXPECT_DEATH(
      {
        DAG<>::Builder builder;
        builder.root().then([] {});
        builder.node([] {}).then([] {});
        (void)builder.build();
      },
      "node 2 depends on nothing, and would never run");
}

TEST_F(DAGDeathTest, ARootThatDependsOnANode) {
  EXPECT_DEATH(
      {
        DAG<>::Builder builder;
        builder.addDependency(builder.root().then([] {}), builder.root());
      },
      "the root cannot depend on node 1");
}

TEST_F(DAGDeathTest, ANodeOfAnotherBuilder) {
  EXPECT_DEATH(
      {
        DAG<>::Builder one;
        DAG<>::Builder two;
        one.addDependency(one.root(), two.root().then([] {}));
      },
      "was given a node of another builder");
}

TEST_F(DAGDeathTest, ABuilderThatHasBuilt) {
  EXPECT_DEATH(
      {
        DAG<>::Builder builder;
        auto dag = builder.build();
        (void)builder.build();
      },
      "a DAGBuilder was used after build\\(\\)");
}

TEST_F(DAGDeathTest, NoScheduler) {
  EXPECT_DEATH(DAG<>::Builder().build()->run(),
               "DAG::run\\(\\) was called on a thread to which no scheduler is bound");
}

TEST_F(DAGDeathTest, DestroyedWhileItRuns) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        Scheduler::Binding bound(scheduler);
        Allocator::unique_ptr<DAG<>> dag;
        DAG<>::Builder builder;
        builder.root().then([&] { dag.reset(); });
        dag = builder.build();
        dag->run();
      },
      "a DAG was destroyed while it runs");
}

}  // namespace
}  // namespace weft
