// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include <weft/detail/wait/shared_lock.h>

// Who gets the lock behind weft's SharedMutex, in which order and when, on a clock that the tests set.
namespace weft::inline v0_1::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr unsigned kMaxPasses = 2;
using Lock = SharedLock<WaitList, StdSync, kMaxPasses>;
using How = Lock::How;
constexpr How kWrites = How::kExclusive, kReads = How::kShared;

// What all share.
struct Table {
  TimePoint now{std::chrono::hours(1)};
  Lock lock;
  std::vector<Waiter*> woken;
};

struct Host {
  TimePoint now() const { return table.now; }
  void wakeAll(WaitList list) const {
    while (Waiter* waiter = list.popFront()) {
      table.woken.push_back(waiter);
    }
  }
  Table& table;
};

// One that waits for the lock, on a thread of its own, which runs only while the test waits for it.
class Player {
 public:
  Player(Table& table, How how, TimePoint limit = kNever)
      : host_{{table}, *this, limit}, thread_([this, how] {
          toPlayer_.acquire();
          holds_ = host_.table.lock.lock(waiter_, how, host_);
          isOver_ = true;
          toTest_.release();
        }) {
    goOn(true);
  }
  ~Player() {
    if (!isOver_) {
      ADD_FAILURE() << "it waits";
      stop();
    }
    thread_.join();
  }

  bool waits() const { return !isOver_; }
  bool holds() const { return holds_; }
  bool hasGivenUp() const { return isOver_ && !holds_; }
  TimePoint until() const { return until_; }
  int numGaveWay() const { return numGaveWay_; }
  Waiter* waiter() { return &waiter_; }

  // Each returns when it holds the lock, has given up or waits again.
  // Requires: it was woken.
  Player& wake() { return goOn(true); }
  Player& timeIsUp() { return goOn(false); }
  Player& stop() {
    host_.wantsStop = true;
    host_.left = host_.table.lock.leave(waiter_, host_);
    return goOn(true);
  }

 private:
  struct WaitingHost : Host {
    WaitingHost(const Host& base, Player& one, TimePoint time) : Host(base), player(one), limitOfWait(time) {}
    bool blockUntil(Waiter&, TimePoint until) const {
      player.until_ = until;
      player.toTest_.release();
      player.toPlayer_.acquire();
      return player.isWoken_;
    }
    bool blockAtFirst(Waiter& self) const {
      return blockUntil(self, std::min<TimePoint>(now() + kPatience, limitOfWait));
    }
    void block(Waiter& self) const { EXPECT_TRUE(blockUntil(self, kNever)); }
    void giveWay(Waiter&) const { ++player.numGaveWay_; }
    TimePoint limit() const { return limitOfWait; }
    bool isStopped() const { return wantsStop; }
    bool hasLeft() const { return left; }
    Player& player;
    TimePoint limitOfWait;
    bool wantsStop = false, left = false;
  };

  Player& goOn(bool isWoken) {
    isWoken_ = isWoken;
    toPlayer_.release();
    toTest_.acquire();
    return *this;
  }

  std::binary_semaphore toPlayer_{0}, toTest_{0};
  bool isOver_ = false, holds_ = false, isWoken_ = false;
  int numGaveWay_ = 0;
  TimePoint until_{};
  Waiter waiter_;
  WaitingHost host_;
  std::thread thread_;
};

class SharedLockTest : public ::testing::Test {
 protected:
  using Players = std::vector<Player*>;

  void TearDown() override {
    EXPECT_TRUE(table.woken.empty());
    EXPECT_TRUE(table.lock.isIdle()) << "somebody holds it, or is expected";
  }

  Lock& lock() { return table.lock; }
  bool tryTake(How how) {
    return (how == kWrites ? lock().tryLock() : lock().tryLockShared()) || lock().tryTake(how, Host{table});
  }
  void release(How how) {
    WaitList granted;
    if (how == kReads) {
      EXPECT_TRUE(lock().unlockShared(granted));
    } else if (!lock().tryUnlock()) {
      granted = lock().unlock();
    }
    Host{table}.wakeAll(granted);
  }
  void passAsOftenAsPossible() {
    for (unsigned i = 0; i < kMaxPasses; ++i) {
      EXPECT_TRUE(tryTake(kReads));
      release(kReads);
    }
    EXPECT_FALSE(tryTake(kReads)) << "so many have passed";
  }
  // Returns: whether these, in this order, are to be woken since the last call.
  bool areWoken(const Players& players) {
    std::vector<Waiter*> waiters;
    for (Player* player : players) {
      waiters.push_back(player->waiter());
    }
    return std::exchange(table.woken, {}) == waiters;
  }
  // Has `player`, which was granted the lock alone, come and release it.
  // Returns: whether it alone was to be woken, and then held the lock.
  bool hasItsTurn(Player& player) {
    const bool isWoken = areWoken({&player});
    const bool holds = player.wake().holds();
    release(static_cast<How>(player.waiter()->mark));
    return isWoken && holds;
  }
  // The writer that holds the lock releases it, and `player`, to which it is granted, does not come.
  // Returns: whether a writer that tries, or `other`, which waits, has it a millisecond after it has looked.
  bool isTakenFrom(Player& player) {
    release(kWrites);
    const bool isWoken = areWoken({&player});
    const bool isRefused = !tryTake(kWrites);
    table.now += milliseconds(1);
    return isWoken && isRefused && tryTake(kWrites);
  }
  bool isTakenFrom(Player& player, Player& other) {
    release(kWrites);
    const bool isWoken = areWoken({&player});
    table.now += milliseconds(1);
    const bool isRefused = other.timeIsUp().waits();
    table.now += milliseconds(1);
    return isWoken && isRefused && other.timeIsUp().holds();
  }

  Table table;
};

TEST_F(SharedLockTest, IsHeldByOneWriterOrByReaders) {
  WaitList granted;
  EXPECT_TRUE(tryTake(kWrites));
  EXPECT_FALSE(tryTake(kWrites));
  EXPECT_FALSE(tryTake(kReads));
  EXPECT_FALSE(lock().unlockShared(granted)) << "nobody shares it";
  EXPECT_TRUE(lock().tryUnlock());
  EXPECT_FALSE(lock().unlockShared(granted)) << "nobody shares it";

  EXPECT_TRUE(tryTake(kReads));
  EXPECT_TRUE(tryTake(kReads));
  EXPECT_FALSE(tryTake(kWrites));
  release(kReads);
  EXPECT_FALSE(tryTake(kWrites));
  release(kReads);
  EXPECT_TRUE(lock().isIdle());
  EXPECT_TRUE(tryTake(kWrites));
  release(kWrites);
}

TEST_F(SharedLockTest, IsTakenInsteadOfWaitedForWhereItCanBeHad) {
  EXPECT_TRUE(Player(table, kWrites).holds());
  release(kWrites);
  EXPECT_TRUE(Player(table, kReads).holds());
  EXPECT_TRUE(Player(table, kReads).holds()) << "beside another reader";
  Player c(table, kWrites);
  release(kReads);
  EXPECT_TRUE(areWoken({}));
  release(kReads);
  EXPECT_TRUE(hasItsTurn(c));
}

TEST_F(SharedLockTest, GoesToWaitersInTurnReadersBeforeTheNextWriterTogether) {
  EXPECT_TRUE(tryTake(kWrites));
  Player a(table, kReads), b(table, kReads), c(table, kWrites), d(table, kReads), e(table, kWrites);
  EXPECT_FALSE(lock().tryUnlock()) << "somebody waits";
  release(kWrites);
  EXPECT_TRUE(areWoken({&a, &b}));
  EXPECT_TRUE(b.wake().holds());
  release(kReads);
  EXPECT_TRUE(areWoken({})) << "it is granted to another, too";
  EXPECT_TRUE(a.wake().holds());
  release(kReads);
  EXPECT_TRUE(areWoken({&c}));
  EXPECT_FALSE(tryTake(kReads));
  EXPECT_TRUE(c.wake().holds());
  EXPECT_FALSE(tryTake(kReads));
  release(kWrites);
  EXPECT_TRUE(hasItsTurn(d));
  EXPECT_TRUE(hasItsTurn(e));
}

TEST_F(SharedLockTest, ReadersPassAWriterThatWaitsSoOftenAndThenQueue) {
  EXPECT_TRUE(tryTake(kReads));
  EXPECT_TRUE(tryTake(kReads));
  Player a(table, kWrites);
  passAsOftenAsPossible();
  Player b(table, kReads), c(table, kWrites);
  EXPECT_TRUE(b.waits());
  release(kReads);
  EXPECT_TRUE(areWoken({})) << "one still reads";
  release(kReads);
  EXPECT_TRUE(hasItsTurn(a));
  EXPECT_TRUE(areWoken({&b}));
  EXPECT_TRUE(b.wake().holds());
  passAsOftenAsPossible();
  release(kReads);
  EXPECT_TRUE(hasItsTurn(c));
}

TEST_F(SharedLockTest, PassesCountUntilAWaiterHasItsTurn) {
  EXPECT_TRUE(tryTake(kReads));
  Player a(table, kWrites), b(table, kWrites);
  passAsOftenAsPossible();
  EXPECT_TRUE(a.stop().hasGivenUp());
  EXPECT_FALSE(tryTake(kReads)) << "the other writer was passed, too";
  EXPECT_TRUE(b.stop().hasGivenUp());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(tryTake(kReads)) << "nobody waits";
    release(kReads);
  }
  Player c(table, kWrites);
  passAsOftenAsPossible();
  release(kReads);
  EXPECT_TRUE(hasItsTurn(c));
}

TEST_F(SharedLockTest, WhereAWriterGivesUpTheReadersBehindItGoOn) {
  EXPECT_TRUE(tryTake(kReads));
  Player a(table, kWrites);
  passAsOftenAsPossible();
  Player b(table, kReads), c(table, kReads), d(table, kWrites);
  EXPECT_TRUE(a.stop().hasGivenUp());
  EXPECT_TRUE(areWoken({&b, &c}));
  EXPECT_TRUE(b.wake().holds());
  EXPECT_TRUE(d.stop().hasGivenUp());
  EXPECT_TRUE(c.wake().holds());
  EXPECT_TRUE(areWoken({}));
  for (int i = 0; i < 3; ++i) {
    release(kReads);
  }
}

TEST_F(SharedLockTest, WhereOneGivesUpBesideAWriterThatHoldsItNobodyElseGoesOn) {
  EXPECT_TRUE(tryTake(kWrites));
  Player a(table, kReads), b(table, kReads, table.now + milliseconds(1)), c(table, kWrites);
  EXPECT_TRUE(a.stop().hasGivenUp());
  EXPECT_EQ(b.until(), table.now + milliseconds(1));
  table.now = b.until();
  EXPECT_TRUE(b.timeIsUp().hasGivenUp());
  EXPECT_TRUE(areWoken({}));
  release(kWrites);
  EXPECT_TRUE(areWoken({&c}));
  EXPECT_TRUE(c.stop().holds()) << "it was granted before";
  release(kWrites);
}

TEST_F(SharedLockTest, AGrantExpiresAMillisecondAfterItWasSeenFirst) {
  EXPECT_TRUE(tryTake(kWrites));
  Player a(table, kWrites), b(table, kReads), c(table, kWrites);
  release(kWrites);
  EXPECT_TRUE(areWoken({&a}));
  table.now += milliseconds(1);
  EXPECT_TRUE(c.timeIsUp().waits()) << "it sees the grant first";
  EXPECT_EQ(c.until(), table.now + milliseconds(1));
  table.now += milliseconds(1) - nanoseconds(1024 * 2);
  EXPECT_TRUE(b.timeIsUp().waits());
  EXPECT_LE(b.until(), table.now + nanoseconds(1024 * 3)) << "it looks again when the grant expires";
  table.now += nanoseconds(1024 * 2);
  EXPECT_TRUE(c.timeIsUp().holds()) << "it runs, whoever was before";
  EXPECT_TRUE(a.wake().waits()) << "it is the first again";
  release(kWrites);
  EXPECT_TRUE(hasItsTurn(a));
  EXPECT_TRUE(hasItsTurn(b));
}

TEST_F(SharedLockTest, EachGrantHasItsOwnTime) {
  EXPECT_TRUE(tryTake(kWrites));
  Player a(table, kWrites), b(table, kWrites), c(table, kWrites);
  release(kWrites);
  EXPECT_TRUE(areWoken({&a}));
  table.now += milliseconds(1);
  EXPECT_TRUE(c.timeIsUp().waits());
  EXPECT_TRUE(a.wake().holds());
  release(kWrites);
  EXPECT_TRUE(areWoken({&b}));
  table.now += milliseconds(5);
  EXPECT_TRUE(c.timeIsUp().waits());
  EXPECT_TRUE(b.wake().holds()) << "what another has not taken for long was not its grant";
  table.now += milliseconds(5);
  EXPECT_TRUE(c.timeIsUp().waits()) << "who has come has it for good";
  release(kWrites);
  EXPECT_TRUE(hasItsTurn(c));
}

// Of readers that were woken together the others go on, and those behind them do not wait for the one.
TEST_F(SharedLockTest, AReaderThatDoesNotComeKeepsNoWriterWaiting) {
  EXPECT_TRUE(tryTake(kWrites));
  Player a(table, kReads), b(table, kReads), c(table, kWrites);
  release(kWrites);
  EXPECT_TRUE(areWoken({&a, &b}));
  EXPECT_TRUE(b.wake().holds());
  const auto letTimePass = [&] {
    table.now += milliseconds(1);
    EXPECT_TRUE(c.timeIsUp().waits());
    EXPECT_TRUE(areWoken({}));
  };
  letTimePass();
  letTimePass();
  EXPECT_FALSE(tryTake(kWrites)) << "one still reads";
  release(kReads);
  EXPECT_TRUE(areWoken({&c}));
  EXPECT_TRUE(c.wake().holds());
  EXPECT_TRUE(a.wake().waits());
  release(kWrites);
  EXPECT_TRUE(hasItsTurn(a));
}

TEST_F(SharedLockTest, AReaderDoesNotOvertakeAWriterThatWaitsForReaders) {
  EXPECT_TRUE(tryTake(kWrites));
  Player a(table, kReads), b(table, kReads), c(table, kWrites), d(table, kReads);
  release(kWrites);
  EXPECT_TRUE(areWoken({&a, &b}));
  EXPECT_TRUE(a.wake().holds());
  table.now += milliseconds(1);
  EXPECT_TRUE(d.timeIsUp().waits());
  table.now += milliseconds(1);
  EXPECT_TRUE(d.timeIsUp().waits()) << "one reads, and a writer is the first";
  EXPECT_TRUE(b.wake().holds()) << "it had its turn";
  release(kReads);
  release(kReads);
  EXPECT_TRUE(hasItsTurn(c));
  EXPECT_TRUE(hasItsTurn(d));
}

// Several are missing, and one of them comes while another has a grant that is new.
TEST_F(SharedLockTest, OneThatComesLateTakesNoGrantOfAnother) {
  EXPECT_TRUE(tryTake(kWrites));
  Player a(table, kWrites), b(table, kWrites), c(table, kWrites);
  EXPECT_TRUE(isTakenFrom(a, c));
  release(kWrites);
  EXPECT_TRUE(areWoken({&b}));
  EXPECT_TRUE(a.wake().waits()) << "it is granted to another";
  EXPECT_TRUE(b.wake().holds());
  release(kWrites);
  EXPECT_TRUE(hasItsTurn(a));
}

TEST_F(SharedLockTest, OneThatHasItsGrantHasItThoughAnotherIsMissing) {
  EXPECT_TRUE(tryTake(kWrites));
  Player a(table, kWrites), b(table, kReads), c(table, kWrites);
  EXPECT_TRUE(isTakenFrom(a, c));
  release(kWrites);
  EXPECT_TRUE(areWoken({&b}));
  EXPECT_TRUE(b.wake().holds());
  EXPECT_FALSE(tryTake(kWrites));
  release(kReads);
  EXPECT_TRUE(tryTake(kWrites)) << "nobody has it";
  release(kWrites);
  EXPECT_TRUE(a.wake().holds());
  release(kWrites);
}

TEST_F(SharedLockTest, ATryTakesWhatOneThatDoesNotComeWasGranted) {
  for (const How how : {kWrites, kReads}) {
    EXPECT_TRUE(tryTake(kWrites));
    Player a(table, kWrites), b(table, kWrites);
    release(kWrites);
    EXPECT_TRUE(areWoken({&a}));
    EXPECT_FALSE(tryTake(how)) << "it sees the grant first";
    table.now += milliseconds(1) - nanoseconds(1024 * 2);
    EXPECT_FALSE(tryTake(how));
    table.now += nanoseconds(1024 * 2);
    EXPECT_TRUE(tryTake(how));
    EXPECT_TRUE(areWoken({}));
    EXPECT_TRUE(a.wake().waits());
    release(how);
    EXPECT_TRUE(hasItsTurn(a));
    EXPECT_TRUE(hasItsTurn(b));
  }
}

// It may be the newcomer's thread that has to run the one that is missing.
TEST_F(SharedLockTest, NewcomersGiveWayToOneThatIsMissing) {
  EXPECT_TRUE(tryTake(kWrites));
  Player a(table, kReads);
  EXPECT_TRUE(isTakenFrom(a));
  release(kWrites);
  for (const How how : {kWrites, kReads}) {
    EXPECT_EQ(how == kReads ? lock().tryLockShared() : lock().tryLock(), false);
    const Player newcomer(table, how);
    EXPECT_TRUE(newcomer.holds());
    EXPECT_EQ(newcomer.numGaveWay(), 1);
    release(how);
  }
  EXPECT_TRUE(a.wake().holds());
  release(kReads);
  const Player newcomer(table, kWrites);
  EXPECT_EQ(newcomer.numGaveWay(), 0);
  release(kWrites);
}

TEST_F(SharedLockTest, ReadersPassAsOftenWhileSomebodyIsMissing) {
  EXPECT_TRUE(tryTake(kWrites));
  Player a(table, kReads);
  EXPECT_TRUE(isTakenFrom(a));
  release(kWrites);

  EXPECT_TRUE(tryTake(kReads));
  Player b(table, kWrites);
  EXPECT_TRUE(b.waits());
  EXPECT_TRUE(Player(table, kReads).holds());
  EXPECT_TRUE(tryTake(kReads));
  EXPECT_FALSE(tryTake(kReads)) << "so many have passed";
  Player d(table, kReads);
  EXPECT_TRUE(d.waits());
  EXPECT_TRUE(a.wake().holds()) << "it had its turn";
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(areWoken({}));
    release(kReads);
  }
  EXPECT_TRUE(hasItsTurn(b));
  EXPECT_TRUE(hasItsTurn(d));
}

TEST_F(SharedLockTest, OneThatHasLostItsGrantGivesUpWhereItsTimeIsUp) {
  for (const bool isStopped : {false, true}) {
    EXPECT_TRUE(tryTake(kWrites));
    Player a(table, kReads, isStopped ? kNever : table.now + milliseconds(2));
    EXPECT_TRUE(isTakenFrom(a));
    table.now += milliseconds(1);
    EXPECT_TRUE((isStopped ? a.stop() : a.wake()).hasGivenUp());
    release(kWrites);
    EXPECT_TRUE(lock().isIdle()) << "nobody is missing";
  }
}

}  // namespace
}  // namespace weft::inline v0_1::detail
