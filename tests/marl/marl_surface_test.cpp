// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// marl's public names, spelled as its users spell them. That this compiles is most of the test. Programs
// declare classes before they include the headers:
namespace marl {
class Scheduler;
class Task;
class mutex;
class lock;
}  // namespace marl

#include <memory>

struct Device {
  std::shared_ptr<marl::Scheduler> scheduler;
};

#include <marl/blockingcall.h>
#include <marl/conditionvariable.h>
#include <marl/containers.h>
#include <marl/dag.h>
#include <marl/debug.h>
#include <marl/defer.h>
#include <marl/deprecated.h>
#include <marl/event.h>
#include <marl/export.h>
#include <marl/finally.h>
#include <marl/memory.h>
#include <marl/mutex.h>
#include <marl/parallelize.h>
#include <marl/pool.h>
#include <marl/sanitizers.h>
#include <marl/scheduler.h>
#include <marl/task.h>
#include <marl/thread.h>
#include <marl/thread_local.h>
#include <marl/ticket.h>
#include <marl/trace.h>
#include <marl/tsa.h>
#include <marl/waitgroup.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#if !defined(MARL_DEBUG_ENABLED) || !defined(MARL_ADDRESS_SANITIZER_ENABLED) ||                        \
    !defined(MARL_MEMORY_SANITIZER_ENABLED) || !defined(MARL_THREAD_SANITIZER_ENABLED) ||              \
    !defined(MARL_UNDEFINED_SANITIZER_ENABLED) || !defined(MARL_EXPORT) || !defined(MARL_NO_EXPORT) || \
    !defined(MARL_CONCAT)
#error "a macro that programs test is missing"
#endif
#if MARL_DEBUG_ENABLED != 0 && MARL_DEBUG_ENABLED != 1
#error "MARL_DEBUG_ENABLED must be a number"
#endif

namespace {

// scheduler.h

using Config = marl::Scheduler::Config;
static_assert(Config::DefaultFiberStackSize == 1024 * 1024);
static_assert(std::is_same_v<marl::Scheduler::TimePoint, std::chrono::system_clock::time_point>);
static_assert(std::is_same_v<marl::Scheduler::Predicate, std::function<bool()>>);
static_assert(std::is_same_v<marl::Scheduler::ThreadInitializer, std::function<void(int)>>);
static_assert(std::is_convertible_v<const Config&, marl::Scheduler>);
static_assert(!std::is_copy_constructible_v<marl::Scheduler> &&
              !std::is_move_constructible_v<marl::Scheduler>);
static_assert(std::is_same_v<decltype(marl::Scheduler::Fiber::id), const uint32_t>);
static_assert(std::is_same_v<decltype(marl::Scheduler::get()), marl::Scheduler*>);

TEST(MarlSurfaceTest, ConfigHasPublicFieldsAndSetters) {
  Config config;
  EXPECT_EQ(config.workerThread.count, 0);
  EXPECT_FALSE(config.workerThread.initializer);
  EXPECT_EQ(config.workerThread.affinityPolicy, nullptr);
  EXPECT_EQ(config.allocator, marl::Allocator::Default);
  EXPECT_EQ(config.fiberStackSize, Config::DefaultFiberStackSize);
  config.workerThread.count = 1;
  config.fiberStackSize = 0x10000;

  auto policy = marl::Thread::Affinity::Policy::anyOf(marl::Thread::Affinity::all());
  config.setWorkerThreadCount(2)
      .setFiberStackSize(0x20000)
      .setAllocator(marl::Allocator::Default)
      .setWorkerThreadInitializer([](int) {})
      .setWorkerThreadAffinityPolicy(policy);
  Device device{std::make_shared<marl::Scheduler>(config)};
  EXPECT_EQ(device.scheduler->config().workerThread.count, 2);
  EXPECT_EQ(device.scheduler->config().workerThread.affinityPolicy, policy);
  EXPECT_GE(Config::allCores().workerThread.count, 1);

  device.scheduler->bind();
  EXPECT_EQ(marl::Scheduler::get(), device.scheduler.get());
  device.scheduler->unbind();
  EXPECT_EQ(marl::Scheduler::get(), nullptr);
}

int numCalls = 0;
void function(int a, std::string b) { numCalls += a * static_cast<int>(b.size()); }
struct Object {
  void method(int a) { numCalls += a; }
};

TEST(MarlSurfaceTest, ScheduleTakesFunctionsAndArguments) {
  marl::Scheduler scheduler(Config{});
  scheduler.bind();
  Object object;
  numCalls = 0;
  const std::function<void()> wrapped = [] { ++numCalls; };
  marl::schedule(marl::Task([] { ++numCalls; }));
  marl::schedule(wrapped);
  marl::schedule(function, 2, "ab");
  marl::schedule(&Object::method, &object, 3);
  marl::schedule([](int& a) { ++a; }, std::ref(numCalls));
  scheduler.enqueue(marl::Task([] { ++numCalls; }));
  marl::Scheduler::unbind();
  EXPECT_EQ(numCalls, 11);
}

// Unqualified names, which argument-dependent lookup finds twice.
TEST(MarlSurfaceTest, NamesMayBeUsedWithoutTheirNamespace) {
  using namespace marl;  // NOLINT(google-build-using-namespace): as programs do
  Scheduler scheduler(Scheduler::Config::allCores());
  scheduler.bind();
  defer(scheduler.unbind());
  WaitGroup done(1);
  Event event(Event::Mode::Manual);
  schedule(
      [](WaitGroup group, Event toSignal) {
        toSignal.signal();
        group.done();
      },
      done, event);
  done.wait();
  EXPECT_TRUE(event.isSignalled());
}

// The names that are weft's own: the tests of weft are those of what they name.

template <class Marl, class Weft>
constexpr bool kIsSame = std::is_same_v<Marl, Weft>;

static_assert(kIsSame<marl::Event, weft::Event>);
static_assert(kIsSame<marl::WaitGroup, weft::WaitGroup>);
static_assert(kIsSame<marl::ConditionVariable, weft::ConditionVariable>);
static_assert(kIsSame<marl::Allocator, weft::Allocator>);
static_assert(kIsSame<marl::Allocation, weft::Allocation>);
static_assert(kIsSame<marl::TrackedAllocator, weft::TrackedAllocator>);
static_assert(kIsSame<marl::StlAllocator<int>, weft::StlAllocator<int>>);
static_assert(kIsSame<marl::aligned_storage<48, 16>, weft::aligned_storage<48, 16>>);
static_assert(kIsSame<marl::containers::vector<int, 4>, weft::containers::vector<int, 4>>);
static_assert(kIsSame<marl::containers::list<int>, weft::containers::list<int>>);
static_assert(kIsSame<marl::containers::deque<int>, weft::containers::deque<int>>);
static_assert(kIsSame<marl::containers::map<int, int>, weft::containers::map<int, int>>);
static_assert(kIsSame<marl::containers::set<int>, weft::containers::set<int>>);
static_assert(kIsSame<marl::containers::unordered_map<int, int>, weft::containers::unordered_map<int, int>>);
static_assert(kIsSame<marl::containers::unordered_set<int>, weft::containers::unordered_set<int>>);
static_assert(kIsSame<marl::Thread, weft::Thread>);
static_assert(kIsSame<marl::Finally, weft::Finally>);
static_assert(kIsSame<marl::FinallyImpl<void (*)()>, weft::FinallyImpl<void (*)()>>);
static_assert(kIsSame<marl::Ticket, weft::Ticket>);
static_assert(kIsSame<marl::DAG<int&>, weft::DAG<int&>>);
static_assert(kIsSame<marl::DAG<>::Builder, marl::DAGBuilder<void>>);
static_assert(kIsSame<marl::DAG<int&>::NodeBuilder, marl::DAGNodeBuilder<int&>>);
static_assert(kIsSame<marl::Pool<int>, weft::Pool<int>>);
static_assert(kIsSame<marl::Loan<int>, marl::Pool<int>::Loan>);
static_assert(kIsSame<marl::BoundedPool<int, 4>, weft::BoundedPool<int, 4>>);
static_assert(kIsSame<marl::UnboundedPool<int, marl::PoolPolicy::Preserve>,
                      weft::UnboundedPool<int, weft::PoolPolicy::Preserve>>);
static_assert(kIsSame<marl::Trace, weft::Trace>);

// Types that programs name.
static_assert(kIsSame<std::underlying_type_t<marl::Event::Mode>, uint8_t>);
static_assert(kIsSame<marl::Ticket::OnCall, std::function<void()>>);
static_assert(std::is_base_of_v<marl::Pool<int>, marl::BoundedPool<int, 4>>);
static_assert(std::is_base_of_v<marl::Pool<int>, marl::UnboundedPool<int>>);
static_assert(marl::Thread::Affinity::supported);

TEST(MarlSurfaceTest, FunctionsHaveTheirNames) {
  marl::Scheduler scheduler(Config{});
  scheduler.bind();
  defer(scheduler.unbind());
  int sum = static_cast<int>(marl::alignUp(17, 8));
  marl::parallelize([&] { sum += 1; }, [&] { sum += 2; });
  sum += marl::blocking_call([](int a) { return a; }, 3);
  {
    const auto finally = marl::make_finally([&] { sum += 4; });
    const std::shared_ptr<marl::Finally> shared = marl::make_shared_finally([&] { sum += 5; });
  }
  marl::containers::deque<int> queue(marl::Allocator::Default);
  queue.push_back(6);
  sum += marl::containers::take(queue);
  EXPECT_EQ(sum, 24 + 1 + 2 + 3 + 4 + 5 + 6);
  EXPECT_GE(marl::pageSize(), 4096u);
  [[maybe_unused]] const int MARL_CONCAT(number, 1) = 1;
}

// debug.h: the macros work in debug builds, and are nothing in others.

TEST(MarlSurfaceDeathTest, AssertionsEndDebugBuildsOnly) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
#if MARL_DEBUG_ENABLED
  EXPECT_DEATH(MARL_ASSERT(numCalls < 0, "calls: %d", 5), "calls: 5");
  EXPECT_DEATH(MARL_FATAL("reason %d", 6), "reason 6");
  EXPECT_DEATH(MARL_UNREACHABLE(), "weft: fatal");
  EXPECT_DEATH(MARL_ASSERT_HAS_BOUND_SCHEDULER("feature"), "feature");
#else
  MARL_ASSERT(notEvenDeclared, "in a release build");
  MARL_FATAL("nothing happens");
  MARL_UNREACHABLE();
  MARL_ASSERT_HAS_BOUND_SCHEDULER("feature");
  MARL_WARN("nothing is printed");
#endif
  EXPECT_DEATH(marl::fatal("always %d", 7), "always 7");
  EXPECT_DEATH(marl::assert_has_bound_scheduler("feature"), "feature");
  marl::warn("%s", "a warning");
}

// sanitizers.h, deprecated.h, export.h, thread_local.h, trace.h

MARL_DEPRECATED(139, "use another") MARL_EXPORT int deprecated() { return 1; }

struct Counter {
  MARL_DECLARE_THREAD_LOCAL(int, value);
};
MARL_INSTANTIATE_THREAD_LOCAL(int, Counter::value, 3);

TEST(MarlSurfaceTest, TheOtherMacros) {
  int sanitized = 0;
  MARL_ADDRESS_SANITIZER_ONLY(++sanitized);
  MARL_MEMORY_SANITIZER_ONLY(++sanitized);
  MARL_THREAD_SANITIZER_ONLY(++sanitized);
  EXPECT_EQ(sanitized,
            MARL_ADDRESS_SANITIZER_ENABLED + MARL_MEMORY_SANITIZER_ENABLED + MARL_THREAD_SANITIZER_ENABLED);
  EXPECT_EQ(deprecated(), 1);
  ++Counter::value;
  std::thread([] { EXPECT_EQ(Counter::value, 3); }).join();
  EXPECT_EQ(Counter::value, 4);
  MARL_NAME_THREAD("thread %d", 1);
  MARL_SCOPED_EVENT("event %d", 1);
  MARL_SCOPED_ASYNC_EVENT(1, "event");
  MARL_BEGIN_ASYNC_EVENT(1, "event");
  MARL_END_ASYNC_EVENT(1, "event");
}

}  // namespace
