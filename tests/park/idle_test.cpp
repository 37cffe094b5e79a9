// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The bookkeeping of IdleSet, step by step. That no wake is lost among threads: tests/model/idle_model.cpp.

#include <weft/detail/park/idle.h>

#include <string>

#include <gtest/gtest.h>

#include "with_scheduler.h"

namespace weft {
namespace {

int numFullFences = 0;
int numHeavyFences = 0;

struct CountingSync : detail::StdSync {
  static void fence(std::memory_order order) {
    numFullFences++;
    StdSync::fence(order);
  }
  static void heavyFence() { numHeavyFences++; }
};

using Idle = detail::IdleSet<CountingSync>;
using Parker = detail::Parker<CountingSync>;

struct Sleeper : Idle::Sleeper {
  Sleeper() { parker = &ownParker; }
  bool isWoken() { return ownParker.tryPark(); }
  Parker ownParker;
};

struct Host {
  bool hasSharedWork = false;
  bool seesSharedWork() const { return hasSharedWork; }
};

void fallAsleep(Idle& idle, Sleeper& sleeper) {
  idle.beginSearch();
  idle.addSleeper(sleeper);
}

TEST(IdleSet, WakesOnlyWhileSomebodySleepsAndNobodySearches) {
  Idle idle(2);
  Sleeper sleeper;
  EXPECT_FALSE(idle.wouldWake());
  idle.beginSearch();
  EXPECT_FALSE(idle.wouldWake());
  idle.addSleeper(sleeper);
  EXPECT_TRUE(idle.wouldWake());
  idle.beginSearch();
  EXPECT_FALSE(idle.wouldWake());
  idle.wakeOne();
  EXPECT_FALSE(sleeper.isWoken());
  Host host;
  idle.endSearch(host);
  EXPECT_TRUE(idle.wouldWake());
  EXPECT_FALSE(idle.removeSleeper(sleeper));
  EXPECT_FALSE(idle.wouldWake());
  idle.wakeOne();
  EXPECT_FALSE(sleeper.isWoken());
}

TEST(IdleSet, TheWokenSleeperIsASearcher) {
  if (tests::kUnderStress) {
    GTEST_SKIP() << "any sleeper may be woken";
  }
  Idle idle(2);
  Sleeper sleepers[2];
  fallAsleep(idle, sleepers[0]);
  fallAsleep(idle, sleepers[1]);
  idle.onPublish();
  EXPECT_TRUE(sleepers[1].isWoken());
  EXPECT_FALSE(idle.wouldWake());
  idle.onPublishFromOutside();
  EXPECT_FALSE(sleepers[0].isWoken());
  EXPECT_TRUE(idle.removeSleeper(sleepers[1]));
  Host host;
  idle.endSearch(host);
  EXPECT_FALSE(sleepers[0].isWoken());
  EXPECT_TRUE(idle.wouldWake());
  idle.onPublishFromOutside();
  EXPECT_TRUE(sleepers[0].isWoken());
}

TEST(IdleSet, WakesTheNewestOfThoseThatAreLeft) {
  if (tests::kUnderStress) {
    GTEST_SKIP() << "any sleeper may be woken";
  }
  Idle idle(4);
  Sleeper sleepers[4];
  for (Sleeper& sleeper : sleepers) {
    fallAsleep(idle, sleeper);
  }
  EXPECT_FALSE(idle.removeSleeper(sleepers[2]));  // between two
  EXPECT_FALSE(idle.removeSleeper(sleepers[0]));  // the oldest
  Host host;
  idle.wakeOne();
  EXPECT_TRUE(sleepers[3].isWoken());
  idle.endSearch(host);
  idle.wakeOne();
  EXPECT_TRUE(sleepers[1].isWoken());
  idle.endSearch(host);
  EXPECT_FALSE(idle.wouldWake());
  idle.wakeOne();
  for (Sleeper& sleeper : sleepers) {
    EXPECT_FALSE(sleeper.isWoken());
  }
  // Whoever has left comes as the newest again.
  fallAsleep(idle, sleepers[2]);
  fallAsleep(idle, sleepers[0]);
  EXPECT_FALSE(idle.removeSleeper(sleepers[0]));
  idle.wakeOne();
  EXPECT_TRUE(sleepers[2].isWoken());
}

TEST(IdleSet, TwoNeighboursMayLeave) {
  if (tests::kUnderStress) {
    GTEST_SKIP() << "any sleeper may be woken";
  }
  Idle idle(4);
  Sleeper sleepers[4];
  for (Sleeper& sleeper : sleepers) {
    fallAsleep(idle, sleeper);
  }
  EXPECT_FALSE(idle.removeSleeper(sleepers[2]));
  EXPECT_FALSE(idle.removeSleeper(sleepers[1]));
  Host host;
  idle.wakeOne();
  EXPECT_TRUE(sleepers[3].isWoken());
  idle.endSearch(host);
  idle.wakeOne();
  EXPECT_TRUE(sleepers[0].isWoken());
  EXPECT_FALSE(sleepers[1].isWoken());
}

TEST(IdleSet, TheLastSearcherHandsOnWhatItSees) {
  Idle idle(3);
  Sleeper sleeper;
  Host host;
  idle.beginSearch();
  idle.beginSearch();
  fallAsleep(idle, sleeper);
  host.hasSharedWork = true;
  idle.endSearch(host);
  EXPECT_FALSE(sleeper.isWoken()) << "another one searches";
  host.hasSharedWork = false;
  idle.endSearch(host);
  EXPECT_FALSE(sleeper.isWoken()) << "there is no work";
  idle.beginSearch();
  host.hasSharedWork = true;
  idle.endSearch(host);
  EXPECT_TRUE(sleeper.isWoken());
}

// The heavy fence costs 16 us beside a running thread.
TEST(IdleSet, FencesHeavilyOnlyWhileSomebodyElseMayPublish) {
  Idle idle(2);
  Sleeper sleepers[2];
  numFullFences = numHeavyFences = 0;
  fallAsleep(idle, sleepers[0]);
  EXPECT_EQ(numHeavyFences, 1) << "the other worker runs";
  EXPECT_EQ(numFullFences, 0);
  fallAsleep(idle, sleepers[1]);
  EXPECT_EQ(numHeavyFences, 1) << "nobody runs";
  EXPECT_EQ(numFullFences, 1);
  idle.removeSleeper(sleepers[1]);
  idle.addExternal();
  EXPECT_EQ(numFullFences, 2);
  fallAsleep(idle, sleepers[1]);
  EXPECT_EQ(numHeavyFences, 2) << "an external thread runs";
  EXPECT_EQ(numFullFences, 3);
  idle.removeExternal();
  idle.removeSleeper(sleepers[1]);
  fallAsleep(idle, sleepers[1]);
  EXPECT_EQ(numHeavyFences, 2);
  EXPECT_EQ(numFullFences, 4);
  idle.onPublishFromOutside();
  EXPECT_EQ(numFullFences, 5);
}

TEST(IdleSet, TheLastSearcherFencesOnlyBesideSleepers) {
  Idle idle(3);
  Sleeper sleepers[2];
  Host host;
  numFullFences = numHeavyFences = 0;
  idle.beginSearch();
  idle.endSearch(host);
  EXPECT_EQ(numHeavyFences, 0) << "nobody sleeps";
  fallAsleep(idle, sleepers[0]);
  EXPECT_EQ(numHeavyFences, 1);
  idle.beginSearch();
  idle.beginSearch();
  idle.endSearch(host);
  EXPECT_EQ(numHeavyFences, 1) << "another one searches";
  idle.endSearch(host);
  EXPECT_EQ(numHeavyFences, 2) << "a third worker runs";
  EXPECT_EQ(numFullFences, 0);
  fallAsleep(idle, sleepers[1]);
  EXPECT_EQ(numHeavyFences, 3);
  idle.beginSearch();
  idle.endSearch(host);
  EXPECT_EQ(numHeavyFences, 3) << "all others sleep";
  EXPECT_EQ(numFullFences, 1);
}

// The worker's loop, step by step. Each step is noted; what happens meanwhile is what a test does in it.
class WaitForSharedWorkTest : public testing::Test {
 protected:
  struct Worker {
    bool seesSharedWork() const { return hasSharedWork; }
    bool spinForWork() {
      steps += "spin ";
      return numSpins-- <= 0;
    }
    bool findWork() {
      steps += "find ";
      return findsAtSecondLook;
    }
    bool tryParkInbox() {
      steps += "tryPark ";
      return mayPark;
    }
    void cancelParkInbox() { steps += "cancel "; }
    void tidyUp() { steps += "tidy "; }
    void park() {
      steps += "park ";
      if (isWoken) {
        idle.wakeOne();
      }
    }

    Idle& idle;
    int numSpins = 1;  // in vain, before one that finds
    bool findsAtSecondLook = false;
    bool mayPark = true;
    bool isWoken = false;
    bool hasSharedWork = false;
    std::string steps = "";
  };

  std::string stepsOf(Worker& worker) {
    waitForSharedWork(idle, self, worker);
    EXPECT_FALSE(self.listed);
    // Nobody is taken for a searcher any more: else the next who sleeps would not be woken.
    fallAsleep(idle, other);
    EXPECT_TRUE(idle.wouldWake());
    EXPECT_FALSE(idle.removeSleeper(other));
    EXPECT_FALSE(idle.wouldWake());
    return worker.steps;
  }

  Idle idle{3};
  Sleeper self, other;
};

TEST_F(WaitForSharedWorkTest, ReturnsWithWhatTheSearchFinds) {
  Worker worker{idle, 0};
  EXPECT_EQ(stepsOf(worker), "tidy spin ");
}

TEST_F(WaitForSharedWorkTest, SleepsBetweenTwoSearches) {
  Worker worker{idle};
  EXPECT_EQ(stepsOf(worker), "tidy spin find tryPark park cancel tidy spin ");
}

TEST_F(WaitForSharedWorkTest, SearchesAtOnceWhenItIsWokenAsASearcher) {
  Worker worker{idle};
  worker.isWoken = true;
  EXPECT_EQ(stepsOf(worker), "tidy spin find tryPark park cancel spin ");
  EXPECT_TRUE(self.isWoken());
}

TEST_F(WaitForSharedWorkTest, DoesNotSleepWhenItsInboxIsFilled) {
  Worker worker{idle};
  worker.mayPark = false;
  EXPECT_EQ(stepsOf(worker), "tidy spin find tryPark tidy spin ");
}

TEST_F(WaitForSharedWorkTest, LooksOnceMoreBeforeItSleepsAndHandsOnWhatElseItSees) {
  for (const bool hasSharedWork : {false, true}) {
    fallAsleep(idle, other);
    Worker worker{idle};
    worker.findsAtSecondLook = true;
    worker.hasSharedWork = hasSharedWork;
    waitForSharedWork(idle, self, worker);
    EXPECT_EQ(worker.steps, "tidy spin find ");
    EXPECT_EQ(other.isWoken(), hasSharedWork);
    EXPECT_EQ(idle.removeSleeper(other), hasSharedWork);
    if (hasSharedWork) {
      idle.endSearch(worker);
    }
  }
}

TEST_F(WaitForSharedWorkTest, TheLastSearcherHandsOnWhatItSeesWhenItFinds) {
  fallAsleep(idle, other);
  Worker worker{idle, 0};
  worker.hasSharedWork = true;
  waitForSharedWork(idle, self, worker);
  EXPECT_EQ(worker.steps, "tidy spin ");
  EXPECT_TRUE(other.isWoken());
}

}  // namespace
}  // namespace weft
