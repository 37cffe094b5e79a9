// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Tickets, graphs, pools and calls, spelled as marl's users spell them.

#include <marl/blockingcall.h>
#include <marl/dag.h>
#include <marl/event.h>
#include <marl/parallelize.h>
#include <marl/pool.h>
#include <marl/ticket.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "with_scheduler.h"

namespace {

class MarlStructureTest : public weft::tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(MarlStructureTest);

static_assert(std::is_same_v<marl::Ticket::OnCall, std::function<void()>>);
static_assert(std::is_same_v<marl::DAG<>::Builder, marl::DAGBuilder<void>>);
static_assert(std::is_same_v<marl::DAG<int&>::NodeBuilder, marl::DAGNodeBuilder<int&>>);
static_assert(std::is_same_v<marl::Loan<int>, marl::Pool<int>::Loan>);
static_assert(std::is_base_of_v<marl::Pool<int>, marl::BoundedPool<int, 4>>);
static_assert(std::is_base_of_v<marl::Pool<int>, marl::UnboundedPool<int, marl::PoolPolicy::Preserve>>);

TEST_P(MarlStructureTest, TicketsAreCalledInTheirOrder) {
  constexpr int kTasks = 50;
  marl::Ticket::Queue queue;
  const marl::WaitGroup done(kTasks);
  std::vector<int> order;
  int number = 0;
  queue.take(kTasks, [&](marl::Ticket&& ticket) {
    marl::schedule([=, &order, i = number] {
      ticket.wait();
      order.push_back(i);
      ticket.done();
      done.done();
    });
    ++number;
  });
  const marl::Event called;
  const marl::Ticket last = queue.take();
  last.onCall([=] { called.signal(); });
  called.wait();
  last.done();
  done.wait();
  ASSERT_EQ(order.size(), static_cast<size_t>(kTasks));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

struct Data {
  std::mutex mutex;
  std::vector<std::string> order;
  std::function<void(Data&)> push(const std::string& what) {
    return [what](Data& data) {
      const std::scoped_lock held(data.mutex);
      data.order.push_back(what);
    };
  }
};

TEST_P(MarlStructureTest, AGraphRunsChildrenAfterTheirParents) {
  Data data;
  marl::DAG<Data&>::Builder builder(allocator());
  auto root = builder.root();
  auto a = root.then(data.push("a"));
  auto b = a.then(data.push("b"));
  auto c = builder.node(data.push("c"), {a, b});
  auto d = builder.node(data.push("d"));
  builder.addDependency(c, d);
  const marl::Allocator::unique_ptr<marl::DAG<Data&>> dag = builder.build();
  for (int i = 0; i < 3; ++i) {
    dag->run(data);
    EXPECT_EQ(data.order, (std::vector<std::string>{"a", "b", "c", "d"}));
    data.order.clear();
  }
}

TEST_P(MarlStructureTest, AGraphWithoutDataRunsToo) {
  std::atomic<int> count{0};
  marl::DAG<>::Builder builder;
  auto first = builder.root().then([&] { ++count; });
  for (int i = 0; i < 20; ++i) {
    first.then([&] { ++count; });
  }
  builder.build()->run();
  EXPECT_EQ(count, 21);
}

TEST_P(MarlStructureTest, ParallelizeReturnsWhenAllHaveRun) {
  std::atomic<int> count{0};
  marl::parallelize([&] { ++count; });
  marl::parallelize([&] { ++count; }, [&] { count += 10; }, [&] { count += 100; });
  EXPECT_EQ(count, 112);
}

TEST_P(MarlStructureTest, BlockingCallsReturnWhatTheFunctionReturns) {
  const marl::WaitGroup done(10);
  for (int i = 0; i < 10; ++i) {
    marl::schedule([=] {
      const auto own = std::this_thread::get_id();
      const bool wasElsewhere =
          marl::blocking_call([](std::thread::id id) { return std::this_thread::get_id() != id; }, own);
      EXPECT_TRUE(wasElsewhere);
      EXPECT_EQ(std::this_thread::get_id(), own);
      marl::blocking_call([=] { done.done(); });
    });
  }
  done.wait();
}

TEST(MarlStructureOnlyTest, BlockingCallsNeedNothingBound) {
  EXPECT_EQ(marl::blocking_call([](int a, int b) { return a + b; }, 1, 2), 3);
}

// Loans are captured by lambdas, and come back with the last of those.

TEST_P(MarlStructureTest, LoansAreCapturedByLambdas) {
  const marl::BoundedPool<int, 2> pool(allocator());
  const marl::WaitGroup done(40);
  std::atomic<int> numOut{0};
  for (int i = 0; i < 20; ++i) {
    marl::schedule([=, &numOut] {
      marl::Loan<int> loan = pool.borrow();
      EXPECT_LE(++numOut, 2);
      *loan = i;
      const auto use = [=, &numOut] {
        EXPECT_EQ(*loan.get(), i);
        --numOut;
        done.done();
      };
      use();
      marl::schedule([copy = loan, done] { done.done(); });
    });
  }
  done.wait();
}

TEST_P(MarlStructureTest, PoolsLendSeveralAtOnceAndTryTo) {
  struct Item {
    int value = 1;
  };
  const marl::UnboundedPool<Item, marl::PoolPolicy::Preserve> pool(allocator());
  std::vector<marl::Loan<Item>> loans;
  int sum = 0;
  pool.borrow(100, [&](marl::Loan<Item>&& loan) {
    sum += loan->value++;
    loans.push_back(loan);
  });
  EXPECT_EQ(sum, 100);
  loans.clear();
  EXPECT_EQ(pool.borrow()->value, 2) << "what was changed is preserved";

  const marl::BoundedPool<Item, 1> one(allocator());
  const std::pair<marl::Loan<Item>, bool> first = one.tryBorrow();
  EXPECT_TRUE(first.second);
  EXPECT_FALSE(one.tryBorrow().second);
}

}  // namespace
