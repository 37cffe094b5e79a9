// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/dag.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "count_mallocs.h"
#include "waiting.h"

namespace weft {
namespace {

using tests::Crew;
using tests::Kind;
using tests::kindOf;
using tests::scaled;

class DAGTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(DAGTest);

// What was called, in order.
struct Journal {
  void add(const std::string& name) {
    std::scoped_lock lock(guard);
    names.push_back(name);
  }
  size_t placeOf(const std::string& name) const {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) {
        return i;
      }
    }
    ADD_FAILURE() << name << " was not called";
    return names.size();
  }
  std::mutex guard;
  std::vector<std::string> names;
};

auto adds(const std::string& name) {
  return [name](Journal& journal) { journal.add(name); };
}

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

TEST_P(DAGTest, AnAllocatorForOneRunGetsItsMemoryBack) {
  TrackedAllocator forDag(Allocator::Default), forRun(Allocator::Default);
  bool isForRun = true;
  {
    DAG<>::Builder builder(&forDag);
    auto last = builder.node([&] { EXPECT_EQ(forRun.stats().numAllocations() != 0, isForRun); });
    for (int i = 0; i < 10; ++i) {
      builder.addDependency(builder.root().then([] {}), last);
    }
    auto dag = builder.build();
    for (int round = 0; round < 2; ++round) {
      dag->run(&forRun);
      tests::expectNothingAllocated(forRun);
      isForRun = false;
      dag->run();  // its memory is kept for later runs, but for none with another allocator
      isForRun = true;
    }
  }
  tests::expectNothingAllocated(forDag);
}

// Throws at one of its allocations.
class ThrowingOnce final : public Allocator {
 public:
  Allocation allocate(const Allocation::Request& request) override {
    if (untilThrow != 0 && --untilThrow == 0) {
      throw std::bad_alloc();
    }
    return Allocator::Default->allocate(request);
  }
  void free(const Allocation& allocation) override { Allocator::Default->free(allocation); }

  int untilThrow = 0;  // 0: never
};

TEST_P(DAGTest, BuildMayBeTriedAgainOnceTheAllocatorHasThrown) {
  bool hasThrown = true;
  for (int at = 1; hasThrown; ++at) {
    ThrowingOnce allocator;
    std::atomic<int> numRun{0};
    bool isInOrder = true;
    DAG<>::Builder builder(&allocator);
    const auto root = builder.root();
    const auto left = root.then([&] { ++numRun; });
    const auto right = root.then([&] { ++numRun; });
    builder.node([&] { isInOrder = ++numRun == 3; }, {left, right});
    allocator.untilThrow = at;
    Allocator::unique_ptr<DAG<>> dag;
    try {
      dag = builder.build();
      hasThrown = false;
    } catch (const std::bad_alloc&) {
      dag = builder.build();
    }
    allocator.untilThrow = 0;
    for (int i = 0; i < 2; ++i) {
      numRun = 0;
      dag->run();
      EXPECT_EQ(numRun, 3) << at;
      EXPECT_TRUE(isInOrder) << at;
    }
  }
}

// A node that was added without its dependencies would end the program in build().
TEST_P(DAGTest, ANodeWhoseAllocationThrowsWasNotAdded) {
  bool hasThrown = true;
  for (int at = 1; hasThrown; ++at) {
    ThrowingOnce allocator;
    hasThrown = false;
    int numAdded = 0;
    std::atomic<int> numRun{0};
    DAG<>::Builder builder(&allocator);
    const auto root = builder.root();
    auto last = root;
    // What does not fit in a node is allocated.
    const auto add = [&, large = std::array<char, 100>()] {
      last = builder.node(
          [&numRun, large] {
            (void)large;
            ++numRun;
          },
          {root, last});
      ++numAdded;
    };
    allocator.untilThrow = at;
    for (int i = 0; i < 40; ++i) {
      try {
        add();
      } catch (const std::bad_alloc&) {
        hasThrown = true;
      }
    }
    allocator.untilThrow = 0;
    EXPECT_EQ(numAdded, hasThrown ? 39 : 40);
    builder.build()->run();
    EXPECT_EQ(numRun, numAdded) << at;
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

class DAGMemoryTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, DAGMemoryTest, ::testing::Values(0, 1));

TEST_P(DAGMemoryTest, ARunTakesNoMemoryInTheSteadyState) {
  TrackedAllocator tracked(Allocator::Default);
  {
    DAG<int&>::Builder builder(&tracked);
    auto last = builder.node([](int& sum) { ++sum; });
    for (int i = 0; i < 200; ++i) {
      builder.addDependency(builder.root().then([](int&) {}), last);
    }
    auto dag = builder.build();
    int sum = 0;
    const Event done;
    // In a task, so that no queue of the scheduler has to grow for it.
    schedule([&, done] {
      for (int i = 0; i < 50; ++i) {
        dag->run(sum);
      }
      const size_t numBefore = tracked.stats().numAllocations();
      const uint64_t mallocsBefore = tests::numMallocs();
      for (int i = 0; i < 50; ++i) {
        dag->run(sum);
      }
      EXPECT_EQ(tracked.stats().numAllocations(), numBefore);
      EXPECT_EQ(tests::numMallocs(), mallocsBefore);
      done.signal();
    });
    done.wait();
    EXPECT_EQ(sum, 100);
  }
  tests::expectNothingAllocated(tracked);
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
  schedule([=] {
    begun.wait();
    source.request_stop();
    end.signal();
  });
  EXPECT_FALSE(dag->run(source.get_token()));
  EXPECT_TRUE(hasEnded);
  EXPECT_FALSE(hasBegunLater);
}

TEST_P(DAGTest, AStopThatLeavesNothingOutLeavesTheRunWhole) {
  std::stop_source source;
  DAG<int&>::Builder builder;
  const auto left = builder.node([&](int&) { source.request_stop(); }), right = builder.node([](int&) {});
  builder.choice([](int& way) { return way; }, {left, right}, {builder.root()});
  auto dag = builder.build();
  int way = 0;
  EXPECT_TRUE(dag->run(way, source.get_token()));
  EXPECT_FALSE(dag->run(way, source.get_token()));
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

// A run of it calls "a", then of "left" and "right" what the journal says, then "join".
struct Forked : Journal {
  size_t way = 0;
};
auto notes(const std::string& name) {
  return [name](Forked& forked) { forked.add(name); };
}

TEST_P(DAGTest, AChoiceRunsOneOfItsNodesAndTheWaysJoinAgain) {
  DAG<Forked&>::Builder builder;
  const auto left = builder.node(notes("left")), right = builder.node(notes("right"));
  builder.choice([](const Forked& forked) { return forked.way; }, {left, right},
                 {builder.root().then(notes("a"))});
  builder.node(notes("join"), {left.then(notes("left 2")), right});
  auto dag = builder.build();
  using Names = std::vector<std::string>;
  for (int round = 0; round < 3; ++round) {
    for (const size_t way : {0, 1}) {
      Forked forked;
      forked.way = way;
      dag->run(forked);
      EXPECT_EQ(forked.names,
                way == 0 ? Names({"a", "left", "left 2", "join"}) : Names({"a", "right", "join"}));
    }
  }
}

TEST_P(DAGTest, WhatFollowsASkippedNodeAloneIsSkippedTheRestRuns) {
  DAG<Journal&>::Builder builder;
  const auto chosen = builder.node(adds("chosen")), skipped = builder.node(adds("skipped"));
  const auto choice = builder.choice(
      [](Journal& journal) {
        journal.add("choice");
        return false;
      },
      {chosen, skipped}, {builder.root()});
  const auto after = skipped.then(adds("skipped 2"));
  for (int i = 0; i < 20; ++i) {  // more than one strand passes on at once
    builder.node(adds("skipped 3"), {skipped, after});
  }
  const auto beside = builder.root().then(adds("beside"));
  builder.node(adds("joined"), {after, beside});
  choice.then(adds("always"));
  auto dag = builder.build();
  for (int round = 0; round < 3; ++round) {
    Journal journal;
    dag->run(journal);
    EXPECT_EQ(journal.names.size(), 5u);
    for (const char* name : {"choice", "chosen", "beside", "joined", "always"}) {
      EXPECT_LT(journal.placeOf(name), 5u);
    }
    EXPECT_LT(journal.placeOf("choice"), journal.placeOf("always"));
    EXPECT_LT(journal.placeOf("choice"), journal.placeOf("chosen"));
    EXPECT_LT(journal.placeOf("beside"), journal.placeOf("joined"));
  }
}

TEST_P(DAGTest, AChoiceMayHaveChoicesAndManyNodes) {
  constexpr int kWide = 30;
  struct Chosen {
    int first = 0, second = 0;
    std::atomic<int> numCalled{0};
    int called = -1;
  };
  DAG<Chosen&>::Builder builder;
  std::vector<DAG<Chosen&>::NodeBuilder> seconds;
  const auto last = builder.node([](Chosen& chosen) { ++chosen.numCalled; });
  const auto makeSecond = [&](int i) {
    const auto one = builder.node([i](Chosen& chosen) { chosen.called = 2 * i; });
    const auto two = builder.node([i](Chosen& chosen) { chosen.called = 2 * i + 1; });
    builder.addDependency(one, last);
    builder.addDependency(two, last);
    return builder.choice([](Chosen& chosen) { return chosen.second; }, {one, two});
  };
  const auto a = makeSecond(0), b = makeSecond(1), c = makeSecond(2), d = makeSecond(3), e = makeSecond(4),
             f = makeSecond(5);
  const auto choice =
      builder.choice([](Chosen& chosen) { return chosen.first; }, {a, b, c, d, e, f}, {builder.root()});
  for (int i = 0; i < kWide; ++i) {
    builder.addDependency(choice.then([](Chosen& chosen) { ++chosen.numCalled; }), last);
  }
  auto dag = builder.build();
  Crew crew(scheduler());
  for (int i = 0; i < 4; ++i) {  // runs overlap
    crew.start(i % 2 == 0 ? Kind::Task : Kind::BoundThread, [&] {
      for (int way = 0; way < 12; ++way) {
        Chosen chosen;
        chosen.first = way / 2;
        chosen.second = way % 2;
        dag->run(chosen);
        EXPECT_EQ(chosen.called, way);
        EXPECT_EQ(chosen.numCalled, kWide + 1);
      }
    });
  }
}

// What one predecessor has written must be seen, whichever was the last.
TEST_P(DAGTest, ANodeAfterAChoiceSeesWhatAllBeforeItHaveWritten) {
  struct Numbers {
    std::array<int, 8> each{};
    int sum = 0;
  };
  DAG<Numbers&>::Builder builder;
  const auto last = builder.node([](Numbers& numbers) {
    for (const int each : numbers.each) {
      numbers.sum += each;
    }
  });
  const auto first = builder.node([](Numbers& numbers) { numbers.each[0] = 1; });
  builder.choice([](Numbers&) { return 0; }, {first}, {builder.root()});
  builder.addDependency(first, last);
  for (size_t i = 1; i < 8; ++i) {
    builder.addDependency(builder.root().then([i](Numbers& numbers) { numbers.each[i] = 1; }), last);
  }
  auto dag = builder.build();
  for (int round = 0; round < scaled(300, 50); ++round) {
    Numbers numbers;
    dag->run(numbers);
    EXPECT_EQ(numbers.sum, 8);
  }
}

TEST_P(DAGTest, AnExceptionOfAChoiceReachesTheCallerOfRun) {
  bool throws = true;
  int numCalled = 0;
  DAG<>::Builder builder;
  const auto left = builder.node([&] { ++numCalled; }), right = builder.node([&] { ++numCalled; });
  const auto choice = builder.choice(
      [&] {
        if (throws) {
          throw std::runtime_error("no");
        }
        return 1;
      },
      {left, right}, {builder.root()});
  builder.node([&] { ++numCalled; }, {left, right, choice});
  auto dag = builder.build();
  for (int round = 0; round < 2; ++round) {
    EXPECT_THROW(dag->run(), std::runtime_error);
    EXPECT_EQ(numCalled, 0);
  }
  throws = false;
  dag->run();
  EXPECT_EQ(numCalled, 2);
}

TEST_P(DAGTest, AChoiceWhoseAllocationThrowsWasNotAdded) {
  bool hasThrown = true;
  for (int at = 1; hasThrown; ++at) {
    ThrowingOnce allocator;
    DAG<>::Builder builder(&allocator);
    std::atomic<int> numRun{0};
    const auto left = builder.root().then([&] { ++numRun; }), right = builder.root().then([&] { ++numRun; });
    hasThrown = false;
    allocator.untilThrow = at;
    try {
      builder.choice([large = std::array<char, 100>()] { return large[0]; }, {left, right},
                     {builder.root(), left.then([] {})});
    } catch (const std::bad_alloc&) {
      hasThrown = true;
    }
    allocator.untilThrow = 0;
    if (hasThrown) {  // the choice would make a cycle
      builder.build()->run();
      EXPECT_EQ(numRun, 2) << at;
    } else {
      EXPECT_NE(builder.dot().find("diamond"), std::string::npos);
    }
  }
}

struct Frame {
  void cull() { numVisible = 3; }
  bool isNight() const { return true; }
  void light() { light_ = 1; }
  void shade() { light_ = 2; }
  void draw() { numDrawn = numVisible + light_; }
  int numVisible = 0, numDrawn = 0;
  int light_ = 0;
};

TEST_P(DAGTest, TheExampleOfThePageDrawsItsFrame) {
  Frame frame;
  std::stringstream file;

  weft::DAG<Frame&>::Builder builder;
  auto cull = builder.root().then([](Frame& f) { f.cull(); }).setName("cull");
  auto light = builder.node([](Frame& f) { f.light(); }).setName("light");
  auto shade = builder.node([](Frame& f) { f.shade(); }).setName("shade");
  builder.choice([](Frame& f) { return f.isNight() ? 0 : 1; }, {light, shade}, {cull}).setName("night?");
  builder.node([](Frame& f) { f.draw(); }, {light, shade}).setName("draw");
  auto dag = builder.build();
  file << dag->dot();

  dag->run(frame);
  EXPECT_EQ(frame.numDrawn, 4);
  EXPECT_NE(file.str().find("night?"), std::string::npos);
}

TEST(DAGDotTest, ShowsNamesNumbersAndEdgesBeforeAndAfterBuild) {
  DAG<>::Builder builder;
  const auto load = builder.root().then([] {}).setName("load");
  const auto middle = load.then([] {});
  builder.node([] {}, {load, middle}).setName("old").setName("save");
  const std::string expected =
      "digraph dag {\n"
      "  n0 [label=\"root\", shape=box];\n"
      "  n1 [label=\"load\"];\n"
      "  n2 [label=\"node 2\"];\n"
      "  n3 [label=\"save\"];\n"
      "  n0 -> n1;\n"
      "  n1 -> n2;\n"
      "  n1 -> n3;\n"
      "  n2 -> n3;\n"
      "}\n";
  EXPECT_EQ(builder.dot(), expected);
  EXPECT_EQ(builder.build()->dot(), expected);
  EXPECT_EQ(DAG<>::Builder().build()->dot(), "digraph dag {\n  n0 [label=\"root\", shape=box];\n}\n");
}

TEST(DAGDotTest, DrawsTheEdgesOfAChoiceDashed) {
  DAG<>::Builder builder;
  const auto left = builder.node([] {}), right = builder.node([] {});
  builder.choice([] { return 0; }, {right, left}, {builder.root()}).then([] {});
  for (int i = 0; i < 2; ++i) {
    const std::string text = i == 0 ? builder.dot() : builder.build()->dot();
    for (const char* line :
         {"n3 [label=\"node 3\", shape=diamond];\n", "n3 -> n2 [style=dashed, label=\"0\"];\n",
          "n3 -> n1 [style=dashed, label=\"1\"];\n", "n3 -> n4;\n", "n0 -> n3;\n"}) {
      EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
  }
}

TEST(DAGDotTest, ShowsWhatBuildWouldRefuse) {
  DAG<>::Builder builder;
  const auto one = builder.node([] {});
  builder.addDependency(one, one);
  EXPECT_NE(builder.dot().find("n1 -> n1;"), std::string::npos);
}

TEST(DAGDotTest, EscapesWhatGraphvizWouldReadOtherwise) {
  DAG<>::Builder builder;
  builder.root().then([] {}).setName(std::string_view("a \"b\" \\N\nc\0;", 12));
  EXPECT_NE(builder.dot().find("n1 [label=\"a \\\"b\\\" \\\\N\\nc;\"];"), std::string::npos) << builder.dot();
}

TEST(DAGDotTest, TheNamesLieInTheMemoryOfTheBuilder) {
  TrackedAllocator tracked(Allocator::Default);
  {
    DAG<>::Builder builder(&tracked);
    const auto node = builder.root().then([] {});
    const size_t numBefore = tracked.stats().numAllocations();
    std::string name(100, 'x');
    node.setName(name);
    EXPECT_GT(tracked.stats().numAllocations(), numBefore);
    name.assign(100, 'y');
    EXPECT_NE(builder.build()->dot().find(std::string(100, 'x')), std::string::npos);
  }
  tests::expectNothingAllocated(tracked);
}

TEST(DAGDotTest, ANodeKeepsItsNameIfTheAllocatorThrows) {
  ThrowingOnce allocator;
  DAG<>::Builder builder(&allocator);
  const auto node = builder.root().then([] {}).setName("short");
  allocator.untilThrow = 1;
  EXPECT_THROW(node.setName(std::string(100, 'x')), std::bad_alloc);
  EXPECT_NE(builder.build()->dot().find("\"short\""), std::string::npos);
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
