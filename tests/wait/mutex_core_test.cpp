// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include <weft/detail/wait/mutex_core.h>

// The rules of time of weft's mutex, on a clock that the tests set. One thread plays all parts: what happens
// while a waiter waits is what its host does when it is asked to wait.
namespace weft::inline v0_1::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds kTick{1024};  // the core counts time in these
constexpr int kRest = 8 * kPatienceTicks;

class MutexCoreTest : public ::testing::Test {
 protected:
  using Core = MutexCore<WaitList, StdSync, 1>;

  // Waits by doing the next of some steps. Each returns whether the waiter was woken.
  struct Host {
    using Step = std::function<bool(TimePoint until)>;

    TimePoint now() const { return test.now; }
    bool blockUntil(Waiter&, TimePoint until) const {
      EXPECT_LT(numDone, steps.size()) << "nothing more should be waited for";
      return numDone >= steps.size() || steps[numDone++](until);
    }
    void block(Waiter& self) const { EXPECT_TRUE(blockUntil(self, kNever)); }
    TimePoint limit() const { return limitOfWait; }
    bool isStopped() const { return wantsStop; }
    bool hasLeft() const { return left; }

    MutexCoreTest& test;
    std::vector<Step> steps;
    TimePoint limitOfWait = kNever;
    bool wantsStop = false;
    mutable bool left = false;
    mutable size_t numDone = 0;
  };

  void TearDown() override { EXPECT_TRUE(core.isIdle()) << "somebody holds it, or is expected"; }

  bool lock(Waiter& waiter, std::vector<Host::Step> steps, TimePoint limit = kNever) {
    const Host host{*this, std::move(steps), limit};
    const bool isTaken = core.lock(waiter, host);
    EXPECT_EQ(host.numDone, host.steps.size()) << "it waited less often";
    return isTaken;
  }

  // Returns: how many waiters are to be woken.
  int unlock() {
    WaitList woken = core.unlock(Host{*this, {}});
    int count = 0;
    for (; woken.popFront() != nullptr; ++count) {
    }
    return count;
  }

  bool tryTakeOffer() { return core.tryTakeOffer(Host{*this, {}}); }

  // What a step ends with.
  static constexpr bool kWoken = true, kTimeIsUp = false;

  // Lets the holder wake a waiter, and somebody else take the mutex before it.
  void passOver() {
    EXPECT_EQ(unlock(), 1);
    EXPECT_TRUE(core.tryLock());
  }

  // Offers the mutex to a waiter that was woken and does not come.
  void offerToOneWhoDoesNotCome() {
    passOver();
    now += kPatienceTicks * kTick;
    EXPECT_EQ(unlock(), 0);
    EXPECT_TRUE(core.isOffered());
    EXPECT_TRUE(core.isLocked()) << "newcomers have to wait";
  }

  // Unlocks one tick too early, takes the mutex, and unlocks in time, which offers it.
  void expectOfferAfter(int ticks) {
    now += (ticks - 1) * kTick;
    EXPECT_EQ(unlock(), 0);
    EXPECT_FALSE(core.isOffered());
    EXPECT_TRUE(core.tryLock());
    now += kTick;
    EXPECT_EQ(unlock(), 0);
    EXPECT_TRUE(core.isOffered());
  }

  TimePoint now{1'000'000 * kTick};
  Core core;
  Waiter first, second;
};

TEST_F(MutexCoreTest, IsOfferedToAWaiterThatHasComeInVainForAMillisecond) {
  EXPECT_TRUE(core.tryLock());
  const auto passOverAnd = [&](uint32_t ticks) {
    return [&, ticks](TimePoint) {
      passOver();
      now += ticks * kTick;
      return kWoken;
    };
  };
  EXPECT_TRUE(
      lock(first, {passOverAnd(kPatienceTicks / 2), passOverAnd(kPatienceTicks - kPatienceTicks / 2 - 1),
                   [&](TimePoint) {
                     passOver();
                     EXPECT_FALSE(core.isOffered());
                     now += kTick;
                     return kWoken;
                   },
                   [&](TimePoint) {
                     EXPECT_EQ(unlock(), 1);
                     EXPECT_TRUE(core.isOffered());
                     EXPECT_FALSE(core.tryLock()) << "newcomers have to wait";
                     return kWoken;
                   }}));
  EXPECT_FALSE(core.isOffered());
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, TheTimeToTheOfferEndsWhenAWokenWaiterTakesIt) {
  for (Waiter* waiter : {&first, &second}) {
    EXPECT_TRUE(core.tryLock());
    EXPECT_TRUE(lock(*waiter, {[&](TimePoint) {
                                 passOver();
                                 now += (kPatienceTicks - 1) * kTick;
                                 return kWoken;
                               },
                               [&](TimePoint) {
                                 EXPECT_EQ(unlock(), 1);
                                 EXPECT_FALSE(core.isOffered());
                                 return kWoken;
                               }}));
    now += kTick;
    EXPECT_EQ(unlock(), 0);
  }
}

TEST_F(MutexCoreTest, IsOfferedOnceAWakeHasGoneUnansweredForAMillisecond) {
  EXPECT_TRUE(core.tryLock());
  EXPECT_TRUE(lock(first, {[&](TimePoint) {
                     passOver();
                     expectOfferAfter(kPatienceTicks);
                     return kWoken;
                   }}));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, TheNextIsWokenTooWhereAWakeGoesUnanswered) {
  EXPECT_TRUE(core.tryLock());
  EXPECT_TRUE(lock(first, {[&](TimePoint) {
                     EXPECT_TRUE(lock(second, {[&](TimePoint) {
                                        passOver();
                                        EXPECT_EQ(unlock(), 0) << "one is on the way";
                                        EXPECT_TRUE(core.tryLock());
                                        now += kPatienceTicks * kTick;
                                        EXPECT_EQ(unlock(), 1);
                                        return kWoken;
                                      }}));
                     // The first has not come, and the mutex is offered to it later.
                     expectOfferAfter(kRest);
                     return kWoken;
                   }}));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AnOfferThatIsNotTakenForAMillisecondIsForThoseWhoTry) {
  EXPECT_TRUE(core.tryLock());
  EXPECT_TRUE(lock(first, {[&](TimePoint) {
                     offerToOneWhoDoesNotCome();
                     now += (kPatienceTicks / 2) * kTick;
                     EXPECT_FALSE(tryTakeOffer());
                     now += (kPatienceTicks - 1 - kPatienceTicks / 2) * kTick;
                     EXPECT_FALSE(tryTakeOffer());
                     now += kTick;
                     EXPECT_TRUE(tryTakeOffer()) << "a try that fails does not begin the time again";
                     EXPECT_FALSE(core.isOffered());
                     EXPECT_TRUE(core.isLocked());
                     EXPECT_EQ(unlock(), 0);
                     EXPECT_FALSE(core.isOffered()) << "the time begins again for the next offer";
                     EXPECT_FALSE(core.isLocked());
                     return kWoken;
                   }}));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AWaiterLooksAgainAfterAMillisecondAndThenAfterAnEighthOfItsWait) {
  EXPECT_TRUE(core.tryLock());
  const TimePoint began = now;
  EXPECT_TRUE(lock(first, {[&](TimePoint until) {
                             EXPECT_EQ(until, began + milliseconds(1));
                             now = began + milliseconds(8) - nanoseconds(8);
                             return kTimeIsUp;
                           },
                           [&](TimePoint until) {
                             EXPECT_EQ(until, now + milliseconds(1)) << "a millisecond at least";
                             now = began + milliseconds(16);
                             return kTimeIsUp;
                           },
                           [&](TimePoint until) {
                             EXPECT_EQ(until, now + milliseconds(2));
                             EXPECT_EQ(unlock(), 1);
                             return kWoken;
                           }}));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AWaiterLooksAgainWhenAWakeHasGoneUnansweredForAMillisecond) {
  EXPECT_TRUE(core.tryLock());
  EXPECT_TRUE(lock(first, {[&](TimePoint) {
                     // The second comes, and has waited for long when the first is woken, and does not come.
                     const TimePoint began = now;
                     EXPECT_TRUE(lock(second, {[&](TimePoint) {
                                                 now = began + milliseconds(80);
                                                 passOver();
                                                 now += 100 * kTick;
                                                 return kTimeIsUp;
                                               },
                                               [&](TimePoint until) {
                                                 EXPECT_EQ(until, now + milliseconds(1) - 100 * kTick);
                                                 now += (kPatienceTicks - 101) * kTick;
                                                 return kTimeIsUp;
                                               },
                                               [&](TimePoint until) {
                                                 EXPECT_EQ(until, now + milliseconds(1) -
                                                                      (kPatienceTicks - 1) * kTick);
                                                 EXPECT_EQ(unlock(), 0);
                                                 now += kTick;
                                                 return kTimeIsUp;
                                               }}))
                         << "it takes what is free";
                     EXPECT_EQ(unlock(), 0);
                     return kWoken;
                   }}));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AWaiterDoesNotTakeWhatIsFreeForAnotherThatIsOnTheWay) {
  EXPECT_TRUE(core.tryLock());
  EXPECT_TRUE(lock(first, {[&](TimePoint) {
                     EXPECT_TRUE(lock(second, {[&](TimePoint) {
                                                 EXPECT_EQ(unlock(), 1);
                                                 now += (kPatienceTicks - 1) * kTick;
                                                 return kTimeIsUp;
                                               },
                                               [&](TimePoint) {
                                                 EXPECT_FALSE(core.isLocked());
                                                 now += kTick;
                                                 return kTimeIsUp;
                                               }}));
                     // The mutex is offered to the first now and then.
                     expectOfferAfter(kRest);
                     return kWoken;
                   }}));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, TheTimeToTheOfferGoesOnWhereAWaiterComesInVain) {
  EXPECT_TRUE(core.tryLock());
  EXPECT_TRUE(lock(first, {[&](TimePoint) {
                             EXPECT_TRUE(lock(second, {[&](TimePoint) {
                                                EXPECT_EQ(unlock(), 1);
                                                now += kPatienceTicks * kTick;
                                                return kTimeIsUp;
                                              }}));
                             return kWoken;  // while the second has it
                           },
                           [&](TimePoint) {
                             now += kRest * kTick;
                             EXPECT_EQ(unlock(), 1);
                             EXPECT_TRUE(core.isOffered());
                             return kWoken;
                           }}));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AWakeIsAnsweredWithinAMillisecondAlsoWhereTheOfferIsFarAway) {
  EXPECT_TRUE(core.tryLock());
  Waiter third;
  const auto thirdIsWoken = [&] {
    EXPECT_TRUE(lock(third, {[&](TimePoint) {
                       passOver();
                       expectOfferAfter(kPatienceTicks);
                       return kWoken;
                     }}));
  };
  EXPECT_TRUE(lock(first, {[&](TimePoint) {
                     EXPECT_TRUE(lock(second, {[&](TimePoint) {
                                        EXPECT_EQ(unlock(), 1);
                                        now += kPatienceTicks * kTick;
                                        return kTimeIsUp;
                                      }}));
                     thirdIsWoken();
                     EXPECT_EQ(unlock(), 0);
                     return kWoken;
                   }}));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AWaiterDoesNotWaitBeyondItsLimitAndLeavesThen) {
  EXPECT_TRUE(core.tryLock());
  const TimePoint limit = now + milliseconds(1) - nanoseconds(1);
  EXPECT_FALSE(lock(first, {[&](TimePoint until) {
                      EXPECT_EQ(until, limit);
                      now = limit;
                      return kTimeIsUp;
                    }},
                    limit));
  EXPECT_EQ(unlock(), 0);
  EXPECT_TRUE(core.tryLock());
  const TimePoint later = now + milliseconds(1) + nanoseconds(1);
  EXPECT_FALSE(lock(first,
                    {[&](TimePoint until) {
                       EXPECT_EQ(until, now + milliseconds(1));
                       now = until;
                       return kTimeIsUp;
                     },
                     [&](TimePoint until) {
                       EXPECT_EQ(until, later);
                       now = until;
                       return kTimeIsUp;
                     }},
                    later));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AWaiterWhoseTimeIsUpTakesWhatIsFree) {
  EXPECT_TRUE(core.tryLock());
  EXPECT_TRUE(lock(first, {[&](TimePoint) {
                     const TimePoint limit = now + milliseconds(1);
                     EXPECT_TRUE(lock(second, {[&](TimePoint) {
                                        now = limit - kTick;
                                        EXPECT_EQ(unlock(), 1);
                                        now = limit;
                                        return kTimeIsUp;
                                      }},
                                      limit))
                         << "though the first is on the way to it";
                     EXPECT_TRUE(core.isLocked());
                     EXPECT_EQ(unlock(), 0);
                     return kWoken;
                   }}));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AWaiterThatIsWokenTooLateGivesUpUnlessItIsFree) {
  for (const bool isFree : {false, true}) {
    EXPECT_TRUE(core.tryLock());
    const TimePoint limit = now + milliseconds(1);
    EXPECT_EQ(lock(first, {[&](TimePoint) {
                     EXPECT_EQ(unlock(), 1);
                     EXPECT_EQ(core.tryLock(), true);
                     if (isFree) {
                       EXPECT_EQ(unlock(), 0);
                     }
                     now = limit;
                     return kWoken;
                   }},
                   limit),
              isFree);
    EXPECT_EQ(unlock(), 0);
  }
}

TEST_F(MutexCoreTest, AWaiterThatIsWokenInTimeQueuesAgain) {
  EXPECT_TRUE(core.tryLock());
  const TimePoint limit = now + milliseconds(1);
  EXPECT_TRUE(lock(first,
                   {[&](TimePoint) {
                      passOver();
                      now = limit - nanoseconds(1);
                      return kWoken;
                    },
                    [&](TimePoint until) {
                      EXPECT_EQ(until, limit);
                      EXPECT_EQ(unlock(), 1);
                      now = limit;
                      return kWoken;
                    }},
                   limit));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, ANewcomerQueuesEvenIfItsTimeIsUp) {
  EXPECT_TRUE(core.tryLock());
  EXPECT_TRUE(lock(first, {[&](TimePoint until) {
                     EXPECT_EQ(until, now - kTick);
                     EXPECT_EQ(unlock(), 1);
                     return kWoken;
                   }},
                   now - kTick));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AStopIsSeenBeforeTheWaitAndEndsIt) {
  EXPECT_TRUE(core.tryLock());
  Host stopped{*this, {}};
  stopped.wantsStop = true;
  EXPECT_FALSE(core.lock(first, stopped));
  EXPECT_FALSE(core.leave(first)) << "it does not wait";
  Host leaving{*this, {}};
  leaving.steps.emplace_back([&](TimePoint) {
    EXPECT_TRUE(core.leave(first));
    leaving.left = true;
    return kWoken;
  });
  EXPECT_FALSE(core.lock(first, leaving));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AWaiterWhoseTimeIsUpWaitsForTheWakeThatItIsOwed) {
  EXPECT_TRUE(core.tryLock());
  EXPECT_TRUE(lock(first, {[&](TimePoint) {
                             EXPECT_EQ(unlock(), 1);
                             return kTimeIsUp;
                           },
                           [&](TimePoint until) {
                             EXPECT_EQ(until, kNever);
                             return kWoken;
                           }}));
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, AWaiterDoesNotLookAgainEarlierWhereNoWakeIsOnTheWay) {
  EXPECT_TRUE(core.tryLock());
  Waiter third;
  const auto thirdTakesIt = [&] {
    EXPECT_TRUE(lock(third, {[&](TimePoint) {
                       EXPECT_EQ(unlock(), 1);
                       now += kPatienceTicks * kTick;
                       return kTimeIsUp;
                     }}));
  };
  EXPECT_TRUE(lock(first, {[&](TimePoint) {
                     const TimePoint began = now;
                     EXPECT_TRUE(lock(second, {[&](TimePoint) {
                                                 now += milliseconds(80);
                                                 thirdTakesIt();
                                                 now += kTick;
                                                 return kTimeIsUp;
                                               },
                                               [&](TimePoint until) {
                                                 EXPECT_EQ(until, now + (now - began) / 8);
                                                 EXPECT_EQ(unlock(), 1);
                                                 return kWoken;
                                               }}));
                     EXPECT_EQ(unlock(), 0);
                     return kWoken;
                   }}));
  EXPECT_EQ(unlock(), 0);
}

// Of a select, which waits for the mutex among other things.
struct OneNode {
  explicit OneNode(Waiter& owner) {
    node.owner = &owner;
    node.choice = &choice;
    node.index = 1;
  }

  SelectChoice<> choice;
  SelectNode<> node;
};

TEST_F(MutexCoreTest, IsOfferedToASelectWhoseTurnItIs) {
  OneNode one(first);
  EXPECT_TRUE(core.tryLock());
  EXPECT_EQ(core.takeOrQueue(one.node, false, Host{*this, {}}), LockTry::Waits);
  EXPECT_EQ(unlock(), 1);
  EXPECT_EQ(one.choice.get(), 1u);
  EXPECT_FALSE(core.tryLock()) << "newcomers have to wait";
  EXPECT_FALSE(tryTakeOffer());
  EXPECT_EQ(core.takeOrQueue(one.node, true, Host{*this, {}, kNever, true}), LockTry::Taken);
  EXPECT_FALSE(core.isOffered());
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, IsNotKeptForASelectThatDoesNotCome) {
  OneNode one(first);
  EXPECT_TRUE(core.tryLock());
  EXPECT_EQ(core.takeOrQueue(one.node, false, Host{*this, {}}), LockTry::Waits);
  EXPECT_EQ(unlock(), 1);
  now += kPatienceTicks * kTick;
  EXPECT_TRUE(tryTakeOffer());
  EXPECT_EQ(core.takeOrQueue(one.node, true, Host{*this, {}, kNever, true}), LockTry::GivenUp);
  EXPECT_FALSE(one.node.isLinked);
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, TheNextIsWokenWhereASelectHasGoneElsewhere) {
  OneNode one(first);
  EXPECT_TRUE(core.tryLock());
  EXPECT_EQ(core.takeOrQueue(one.node, false, Host{*this, {}}), LockTry::Waits);
  EXPECT_TRUE(one.choice.tryChoose(2));
  EXPECT_TRUE(lock(second, {[&](TimePoint) {
                     EXPECT_EQ(unlock(), 1);
                     EXPECT_FALSE(core.isOffered());
                     return kWoken;
                   }}));
  EXPECT_FALSE(one.node.isLinked);
  EXPECT_EQ(unlock(), 0);
}

TEST_F(MutexCoreTest, IsOfferedToNobodyWhereOnlyASelectIsLeftThatHasGoneElsewhere) {
  OneNode one(first);
  EXPECT_TRUE(core.tryLock());
  EXPECT_FALSE(lock(second, {[&](TimePoint) {
                      EXPECT_EQ(core.takeOrQueue(one.node, false, Host{*this, {}}), LockTry::Waits);
                      passOver();
                      now += kPatienceTicks * kTick;
                      return kWoken;
                    }},
                    now));
  EXPECT_TRUE(one.choice.tryChoose(2));
  EXPECT_EQ(unlock(), 0);
  EXPECT_FALSE(core.isLocked());
}

}  // namespace
}  // namespace weft::inline v0_1::detail
