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

#include <marl/conditionvariable.h>
#include <marl/containers.h>
#include <marl/debug.h>
#include <marl/defer.h>
#include <marl/deprecated.h>
#include <marl/event.h>
#include <marl/export.h>
#include <marl/finally.h>
#include <marl/memory.h>
#include <marl/mutex.h>
#include <marl/sanitizers.h>
#include <marl/scheduler.h>
#include <marl/task.h>
#include <marl/thread.h>
#include <marl/thread_local.h>
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

// event.h, waitgroup.h, conditionvariable.h

static_assert(std::is_same_v<std::underlying_type_t<marl::Event::Mode>, uint8_t>);

TEST(MarlSurfaceTest, PrimitivesAreHandlesThatAreConst) {
  const marl::Event event(marl::Event::Mode::Manual, true, marl::Allocator::Default);
  const marl::Event copy = event;
  event.clear();
  EXPECT_FALSE(copy.wait_for(std::chrono::milliseconds(1)));
  EXPECT_FALSE(copy.wait_until(std::chrono::system_clock::now()));
  event.signal();
  copy.wait();
  EXPECT_TRUE(copy.test() && copy.isSignalled());
  const std::array<marl::Event, 2> events{event, marl::Event()};
  EXPECT_TRUE(marl::Event::any(marl::Event::Mode::Manual, events.begin(), events.end()).isSignalled());
  EXPECT_TRUE(marl::Event::any(events.begin(), events.end()).isSignalled());

  const marl::WaitGroup group(1, marl::Allocator::Default);
  group.add();
  EXPECT_FALSE(group.done());
  EXPECT_TRUE(group.done());
  group.wait();

  marl::ConditionVariable variable(marl::Allocator::Default);
  variable.notify_one();
  variable.notify_all();
}

// memory.h

static_assert(marl::alignUp(17, 8) == 24);
static_assert(sizeof(marl::aligned_storage<48, 16>::type) == 48 &&
              alignof(marl::aligned_storage<48, 16>::type) == 16);

struct ProgramsAllocator final : marl::Allocator {
  marl::Allocation allocate(const marl::Allocation::Request& request) override {
    return marl::Allocator::Default->allocate(request);
  }
  void free(const marl::Allocation& allocation) override { marl::Allocator::Default->free(allocation); }
};

TEST(MarlSurfaceTest, AllocatorsAreDerivedAndTracked) {
  ProgramsAllocator inner;
  marl::TrackedAllocator tracked(&inner);
  marl::Allocation::Request request;
  request.size = marl::pageSize();
  request.alignment = 256;
  request.useGuards = true;
  request.usage = marl::Allocation::Usage::Stack;
  const marl::Allocation allocation = tracked.allocate(request);
  {
    int* const number = tracked.create<int>(3);
    marl::Allocator::unique_ptr<int> unique = tracked.make_unique<int>(4);
    const marl::Allocator::unique_ptr<int> many = tracked.make_unique_n<int>(5, 6);
    const std::shared_ptr<int> shared = tracked.make_shared<int>(7);
    EXPECT_EQ(*number + *unique + many.get()[4] + *shared, 20);
    std::vector<int, marl::StlAllocator<int>> numbers{marl::StlAllocator<int>(&tracked)};
    numbers.push_back(1);
    const marl::TrackedAllocator::Stats stats = tracked.stats();
    EXPECT_EQ(stats.numAllocations(), 6u);
    EXPECT_EQ(stats.byUsage[static_cast<size_t>(marl::Allocation::Usage::Stack)].count, 1u);
    tracked.destroy(number);
  }
  tracked.free(allocation);
  EXPECT_EQ(tracked.stats().bytesAllocated(), 0u);
}

// containers.h

TEST(MarlSurfaceTest, ContainersHaveTheirNames) {
  marl::containers::vector<int, 4> numbers(marl::Allocator::Default);
  numbers.push_back(1);
  numbers.emplace_back(2);
  const marl::containers::vector<int, 8> copy = numbers;
  EXPECT_EQ(copy.size() + numbers.cap(), 6u);
  EXPECT_EQ(copy.data()[1], 2);
  EXPECT_EQ(copy.allocator, marl::Allocator::Default);
  marl::containers::deque<int> queue(marl::Allocator::Default);
  queue.push_back(5);
  EXPECT_EQ(marl::containers::take(queue), 5);
  marl::containers::unordered_set<int> set(marl::Allocator::Default);
  set.insert(6);
  EXPECT_EQ(marl::containers::take(set), 6);
  marl::containers::list<int> list(marl::Allocator::Default);
  const auto entry = list.emplace_front(7);
  EXPECT_EQ(*entry, 7);
  list.erase(entry);
  EXPECT_TRUE(list.begin() == list.end());
  marl::containers::map<int, int> map(marl::Allocator::Default);
  marl::containers::set<int> ordered(marl::Allocator::Default);
  marl::containers::unordered_map<int, int> unordered(marl::Allocator::Default);
  EXPECT_TRUE(map.empty() && ordered.empty() && unordered.empty());
}

// thread.h

marl::Thread::Core core(uint16_t index) {
  marl::Thread::Core result;
  result.pthread.index = index;
  return result;
}

struct LastOnly final : marl::Thread::Affinity::Policy {
  marl::Thread::Affinity get(uint32_t, marl::Allocator* allocator) const override {
    marl::Thread::Affinity all = marl::Thread::Affinity::all(allocator);
    return marl::Thread::Affinity({all[all.count() - 1]}, allocator);
  }
};

TEST(MarlSurfaceTest, ThreadsAndAffinities) {
  marl::containers::vector<marl::Thread::Core, 32> cores;
  for (int i = 2'000; i > 0; i -= 100) {
    cores.push_back(core(static_cast<uint16_t>(i)));
  }
  marl::Thread::Affinity affinity(cores, marl::Allocator::Default);
  EXPECT_EQ(affinity.count(), 20u);
  EXPECT_TRUE(affinity[0] == core(100) && affinity[0] < affinity[1]);
  const marl::Thread::Affinity some({core(100), core(3'000)}, marl::Allocator::Default);
  marl::Thread::Affinity both(affinity, marl::Allocator::Default);
  EXPECT_EQ(both.add(some).count(), 21u);
  EXPECT_EQ(both.remove(affinity).count(), 1u);
  both = marl::Thread::Affinity(marl::Allocator::Default);
  EXPECT_EQ(marl::Thread::Affinity::Policy::oneOf(std::move(affinity))
                ->get(21, marl::Allocator::Default)[0]
                .pthread.index,
            200);

  marl::Scheduler scheduler(
      Config().setWorkerThreadCount(2).setWorkerThreadAffinityPolicy(std::make_shared<LastOnly>()));
  bool ran = false;
  marl::Thread thread(marl::Thread::Affinity::all(), [&] {
    marl::Thread::setName("worker<%d>", 1);
    ran = true;
  });
  marl::Thread moved = std::move(thread);
  moved.join();
  EXPECT_TRUE(ran);
  EXPECT_GE(marl::Thread::numLogicalCPUs(), 1u);
  static_assert(marl::Thread::Affinity::supported);
}

// finally.h, defer.h

TEST(MarlSurfaceTest, FinallyAndDefer) {
  std::string order;
  {
    defer(order += "d");
    auto finally = marl::make_finally([&] { order += "f"; });
    std::shared_ptr<marl::Finally> shared = marl::make_shared_finally([&] { order += "s"; });
    auto impl = marl::FinallyImpl<std::function<void()>>([&] { order += "i"; });
  }
  EXPECT_EQ(order, "isfd");
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
