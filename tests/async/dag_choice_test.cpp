// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/dag.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

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

class DAGChoiceTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(DAGChoiceTest);

// A run of it calls "a", then of "left" and "right" what the journal says, then "join".
struct Forked : Journal {
  size_t way = 0;
};
auto notes(const std::string& name) {
  return [name](Forked& forked) { forked.add(name); };
}

TEST_P(DAGChoiceTest, AChoiceRunsOneOfItsNodesAndTheWaysJoinAgain) {
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

TEST_P(DAGChoiceTest, WhatFollowsASkippedNodeAloneIsSkippedTheRestRuns) {
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

TEST_P(DAGChoiceTest, AChoiceMayHaveChoicesAndManyNodes) {
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
TEST_P(DAGChoiceTest, ANodeAfterAChoiceSeesWhatAllBeforeItHaveWritten) {
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

TEST_P(DAGChoiceTest, AnExceptionOfAChoiceReachesTheCallerOfRun) {
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

TEST_P(DAGChoiceTest, AStopThatLeavesNothingOutLeavesTheRunWhole) {
  std::stop_source source;
  DAG<int&>::Builder builder;
  const auto left = builder.node([&](int&) { source.request_stop(); }), right = builder.node([](int&) {});
  builder.choice([](int& way) { return way; }, {left, right}, {builder.root()});
  auto dag = builder.build();
  int way = 0;
  EXPECT_TRUE(dag->run(way, source.get_token()));
  EXPECT_FALSE(dag->run(way, source.get_token()));
}

}  // namespace
}  // namespace weft
