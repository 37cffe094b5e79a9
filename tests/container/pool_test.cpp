// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/pool.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include <sys/mman.h>
#include <unistd.h>

#include "count_mallocs.h"
#include "live_objects.h"
#include "waiting.h"

namespace weft {
namespace {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kindOf;
using tests::scaled;

class PoolTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(PoolTest);

class UnboundPoolTest : public tests::WithAllocator {};

// It can be neither copied nor moved.
struct Counted : tests::LiveObject {
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  static void resetCounts() { numAlive = numMade = 0; }
};

TEST_F(UnboundPoolTest, ReconstructMakesANewObjectForEachLoan) {
  Counted::resetCounts();
  const BoundedPool<Counted, 2> pool(allocator());
  EXPECT_EQ(Counted::numAlive, 0);
  for (int i = 1; i <= 5; ++i) {
    auto loan = pool.borrow();
    EXPECT_EQ(loan->value, 0);
    loan->value = 7;
    EXPECT_EQ(Counted::numAlive, 1);
    EXPECT_EQ(Counted::numMade, i);
  }
  EXPECT_EQ(Counted::numAlive, 0);
}

TEST_F(UnboundPoolTest, PreserveKeepsItsObjects) {
  Counted::resetCounts();
  {
    const BoundedPool<Counted, 1, PoolPolicy::Preserve> pool(allocator());
    EXPECT_EQ(Counted::numAlive, 1);
    pool.borrow()->value = 7;
    EXPECT_EQ(pool.borrow()->value, 7);
    EXPECT_EQ(Counted::numMade, 1);
  }
  EXPECT_EQ(Counted::numAlive, 0);
}

TEST_F(UnboundPoolTest, UnboundedPoolsGrow) {
  Counted::resetCounts();
  {
    const UnboundedPool<Counted, PoolPolicy::Preserve> preserving(allocator());
    const UnboundedPool<Counted> making(allocator());
    std::vector<Loan<Counted>> loans;
    preserving.borrow(33, [&](Loan<Counted>&& loan) { loans.push_back(std::move(loan)); });
    EXPECT_EQ(Counted::numAlive, 64);
    making.borrow(100, [&](Loan<Counted>&& loan) { loans.push_back(std::move(loan)); });
    EXPECT_EQ(Counted::numAlive, 164);
    std::set<Counted*> objects;
    for (const auto& loan : loans) {
      objects.insert(loan.get());
    }
    EXPECT_EQ(objects.size(), loans.size());
    loans.clear();
    EXPECT_EQ(Counted::numAlive, 64);
  }
  EXPECT_EQ(Counted::numAlive, 0);
}

TEST_F(UnboundPoolTest, TryBorrowTakesWhatIsFree) {
  const BoundedPool<int, 2> pool(allocator());
  auto first = pool.tryBorrow();
  auto second = pool.tryBorrow();
  EXPECT_TRUE(first.second && second.second);
  EXPECT_NE(first.first.get(), second.first.get());
  const auto third = pool.tryBorrow();
  EXPECT_FALSE(third.second);
  EXPECT_EQ(third.first.get(), nullptr);
  first.first.reset();
  EXPECT_EQ(first.first.get(), nullptr);
  EXPECT_TRUE(pool.tryBorrow().second);
}

TEST_F(UnboundPoolTest, CopiesShareALoan) {
  Counted::resetCounts();
  const BoundedPool<Counted, 1> pool(allocator());
  auto loan = pool.borrow();
  auto copy = loan;
  Loan<Counted> assigned;
  assigned = copy;
  (*loan).value = 7;
  EXPECT_EQ(assigned->value, 7);
  loan.reset();
  copy = Loan<Counted>();
  EXPECT_FALSE(pool.tryBorrow().second);
  const auto moved = std::move(assigned);
  EXPECT_EQ(moved->value, 7);
  EXPECT_FALSE(pool.tryBorrow().second);
}

TEST_F(UnboundPoolTest, CopiesAreOnePool) {
  BoundedPool<int, 1> pool(allocator());
  const auto copy = pool;
  const auto loan = copy.borrow();
  EXPECT_FALSE(pool.tryBorrow().second);
  pool = BoundedPool<int, 1>(allocator());
  EXPECT_TRUE(pool.tryBorrow().second);
}

TEST_F(UnboundPoolTest, LoansOutliveTheirPool) {
  Counted::resetCounts();
  Loan<Counted> bounded, unbounded, preserved;
  {
    const BoundedPool<Counted, 3> pool(allocator());
    bounded = pool.borrow();
    const UnboundedPool<Counted> growing(allocator());
    unbounded = growing.borrow();
    const BoundedPool<Counted, 2, PoolPolicy::Preserve> preserving(allocator());
    preserved = preserving.borrow();
  }
  bounded->value = unbounded->value = preserved->value = 7;
  EXPECT_EQ(Counted::numAlive, 4);
  bounded.reset();
  unbounded.reset();
  preserved.reset();
  EXPECT_EQ(Counted::numAlive, 0);
}

TEST_F(UnboundPoolTest, LoansMayBeDroppedInTheCallbackOfBorrow) {
  const BoundedPool<int, 1> pool(allocator());
  int numCalls = 0;
  pool.borrow(5, [&](Loan<int>&&) { ++numCalls; });
  pool.borrow(5, [&](Loan<int>&& loan) {
    ++numCalls;
    loan.reset();
    EXPECT_TRUE(pool.tryBorrow().second);
  });
  EXPECT_EQ(numCalls, 10);
}

struct Throwing {
  Throwing() {
    if (numLeft-- == 0) {
      throw std::runtime_error("no");
    }
  }
  static inline int numLeft = 0;
};

TEST_F(UnboundPoolTest, AConstructorThatThrowsLosesNoItem) {
  Throwing::numLeft = 0;
  const BoundedPool<Throwing, 1> bounded(allocator());
  EXPECT_THROW(bounded.borrow(), std::runtime_error);
  Throwing::numLeft = 100;
  EXPECT_TRUE(bounded.tryBorrow().second);
  using Preserving = BoundedPool<Throwing, 4, PoolPolicy::Preserve>;
  Throwing::numLeft = 2;
  EXPECT_THROW(Preserving{allocator()}, std::runtime_error);
  const UnboundedPool<Throwing, PoolPolicy::Preserve> unbounded(allocator());
  Throwing::numLeft = 20;
  EXPECT_THROW(unbounded.borrow(), std::runtime_error);
  Throwing::numLeft = 100;
  unbounded.borrow();
}

TEST_F(UnboundPoolTest, ALoanAllocatesNothing) {
  const BoundedPool<std::pair<int, int>, 4> bounded;
  const UnboundedPool<int> unbounded;
  unbounded.borrow(32, [](Loan<int>&&) {});
  const uint64_t before = tests::numMallocs();
  for (int i = 0; i < 100; ++i) {
    const auto one = bounded.borrow();
    const auto two = unbounded.borrow();
    const auto copy = two;
  }
  EXPECT_EQ(tests::numMallocs(), before);
}

TEST_P(PoolTest, BorrowWaitsForAnObject) {
  static constexpr int kTasks = 50, kObjects = 3;
  const BoundedPool<Counted, kObjects> pool(allocator());
  Counted::resetCounts();
  std::atomic<int> numLoans{0};
  const WaitGroup done(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    schedule([&numLoans, pool, done] {
      {
        const auto loan = pool.borrow();
        EXPECT_LE(Counted::numAlive, kObjects);
        yield();
        ++numLoans;
      }
      done.done();
    });
  }
  done.wait();
  EXPECT_EQ(numLoans, kTasks);
  EXPECT_EQ(Counted::numAlive, 0);
}

TEST_P(PoolTest, LoansOfEveryKindOfCallerExcludeEachOther) {
  const int rounds = scaled(300, 50);
  struct Number {
    int value = 0;
  };
  const BoundedPool<Number, 2, PoolPolicy::Preserve> pool(allocator());
  std::atomic<int> numInside{0};
  {
    Crew crew(scheduler());
    for (int i = 0; i < 12; ++i) {
      crew.start(kindOf(i), [&] {
        for (int round = 0; round < rounds; ++round) {
          const auto loan = pool.borrow();
          EXPECT_LE(++numInside, 2);
          ++loan->value;
          --numInside;
        }
      });
    }
  }
  const auto one = pool.borrow(), two = pool.borrow();
  EXPECT_EQ(one->value + two->value, 12 * rounds);
}

TEST_P(PoolTest, ThoseWhoWaitAreServedFirstInFirstOut) {
  constexpr int kWaiters = 9;
  const BoundedPool<int, 1> pool(allocator());
  auto loan = pool.borrow();
  std::vector<int> order;
  std::atomic<int> numArriving{0};
  Crew crew(scheduler());
  for (int i = 0; i < kWaiters; ++i) {
    crew.start(Kind::Task, [&, i] {
      ++numArriving;
      const auto mine = pool.borrow();
      order.push_back(i);
    });
    // A task that has arrived, and is blocked, waits for the pool.
    awaitThat([&] {
      uint64_t numBlocked = 0;
      for (const auto& worker : scheduler().stats().workers) {
        numBlocked += worker.workerId >= 0 || numWorkers() == 0 ? worker.numBlockedFibers : 0;
      }
      return numArriving == i + 1 && numBlocked >= static_cast<uint64_t>(i + 1);
    });
  }
  loan.reset();
  crew.join();
  ASSERT_EQ(order.size(), static_cast<size_t>(kWaiters));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(PoolTest, LoansMayBeCapturedByTasks) {
  constexpr int kTasks = 100;
  const BoundedPool<int, 4> bounded(allocator());
  const UnboundedPool<int> unbounded(allocator());
  const WaitGroup done(2 * kTasks);
  // Without workers the tasks run while this thread waits for the next object.
  for (int i = 0; i < kTasks; ++i) {
    schedule([loan = bounded.borrow(), done] {
      *loan = 1;
      done.done();
    });
    schedule([loan = unbounded.borrow(), done] {
      *loan = 1;
      done.done();
    });
  }
  done.wait();
}

struct PoolGate {
  void wait() { (void)pool->borrow(); }
  void wakeOne() { loan.reset(); }
  std::unique_ptr<BoundedPool<int, 1>> pool = std::make_unique<BoundedPool<int, 1>>(tests::heap());
  Loan<int> loan = pool->borrow();
};

TEST_P(PoolTest, MayBeDestroyedAsSoonAsBorrowReturns) {
  tests::destroyAtOnce<PoolGate>(scheduler(), numWorkers());
}

struct Connection {
  void fetch(const std::string& url) { numFetched += url.empty() ? 0 : 1; }
  static inline std::atomic<int> numFetched{0};
};
using Buffer = std::string;

TEST_P(PoolTest, TheExamplesOfTheHeaderBorrow) {
  const std::vector<std::string> urls(30, "url");
  Connection::numFetched = 0;

  weft::BoundedPool<Connection, 8> connections;
  for (const std::string& url : urls) {
    weft::schedule([=] {
      auto connection = connections.borrow();  // waits while all eight are on loan
      connection->fetch(url);
    });
  }

  weft::UnboundedPool<Buffer, weft::PoolPolicy::Preserve> buffers;
  weft::Loan<Buffer> buffer = buffers.borrow();

  destroyScheduler();
  EXPECT_EQ(Connection::numFetched, 30);
  EXPECT_EQ(*buffer, "");
}

using OnePool = BoundedPool<int, 1>;

class PoolDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(PoolDeathTest, ALoanWithoutAnObject) {
  EXPECT_DEATH(*Loan<int>() = 1, "a Loan without an object was used");
  EXPECT_DEATH((void)Loan<std::string>()->size(), "a Loan without an object was used");
}

TEST_F(PoolDeathTest, DestroyedWhileSomebodyWaits) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        scheduler.bind();
        auto pool = std::make_unique<OnePool>();
        const auto loan = pool->borrow();
        schedule([&] { (void)pool->borrow(); });
        yield();
        pool.reset();
      },
      "a BoundedPool was destroyed while somebody waits for a loan");
}

// Gives memory that has no pages until it is touched, and counts the pages that were.
class PageCounter : public Allocator {
 public:
  Allocation allocate(const Allocation::Request& request) override {
    const size_t size = wholePages(request.size);
    void* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    EXPECT_EQ(::madvise(memory, size, MADV_NOHUGEPAGE), 0);
    mapped_.push_back({memory, size});
    return {memory, request};
  }
  void free(const Allocation& allocation) override {
    std::erase_if(mapped_, [&](const auto& each) { return each.first == allocation.ptr; });
    EXPECT_EQ(::munmap(allocation.ptr, wholePages(allocation.request.size)), 0);
  }

  size_t numTouched() const {
    size_t count = 0;
    for (const auto& [memory, size] : mapped_) {
      std::vector<unsigned char> isTouched(size / kPage);
      EXPECT_EQ(::mincore(memory, size, isTouched.data()), 0);
      count += static_cast<size_t>(std::count_if(isTouched.begin(), isTouched.end(),
                                                 [](unsigned char flags) { return (flags & 1) != 0; }));
    }
    return count;
  }

 private:
  static size_t wholePages(size_t size) { return (size + kPage - 1) / kPage * kPage; }

  static inline const size_t kPage = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<std::pair<void*, size_t>> mapped_;
};

struct LargeAggregate {
  int numbers[72500];
};

TEST(PoolMemoryTest, APoolOfLargeObjectsTouchesNoneOfThem) {
  PageCounter pages;
  {
    const BoundedPool<LargeAggregate, 256> pool(&pages);
    const BoundedPool<LargeAggregate, 256, PoolPolicy::Preserve> preserving(&pages);
    const UnboundedPool<LargeAggregate> unbounded(&pages);
    const UnboundedPool<LargeAggregate, PoolPolicy::Preserve> unboundedPreserving(&pages);
    std::vector<Loan<LargeAggregate>> loans;
    for (int i = 0; i < 64; ++i) {
      loans.push_back(pool.borrow());
      loans.push_back(preserving.borrow());
      loans.push_back(unbounded.borrow());
      loans.push_back(unboundedPreserving.borrow());
    }
    EXPECT_LT(pages.numTouched(), 64u) << "of which a few hold the items";
    loans.back()->numbers[0] = 1;
    loans.clear();
  }
  EXPECT_EQ(pages.numTouched(), 0u);
}

}  // namespace
}  // namespace weft
