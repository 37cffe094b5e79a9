// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/fair/bridge.h>
#include <weft/sanitizers.h>
#include <weft/weft.h>

#include "with_scheduler.h"

// What comes of operator new where it throws: for each function that allocates, its first call of operator
// new fails, then its second, and so on, until it needs no more. The function throws std::bad_alloc or
// succeeds. Afterwards what it works on is used again, and destroyed. Nothing may be left allocated.
//
// These end the program with a message, and are not here: a scheduler's Config::allocator that fails
// (allocator_failure_test), Allocator::Default and the pools of nodes and stacks without memory
// (system_failure_test).
namespace weft::tests {
namespace {

// How many calls of operator new of this thread succeed until one fails; below 0: none fails.
constinit thread_local int numUntilFailure = -1;
constinit std::atomic<int64_t> numLive{0};

// Not inlined: then the compiler leaves no pair of new and delete out.
[[gnu::noinline]] void* allocate(size_t size, size_t alignment) noexcept {
  if (numUntilFailure >= 0 && --numUntilFailure < 0) {
    return nullptr;
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, alignof(std::max_align_t)), std::max<size_t>(size, 1)) !=
      0) {
    return nullptr;
  }
  ++numLive;
  return memory;
}

void* allocateOrThrow(size_t size, size_t alignment) {
  void* const memory = allocate(size, alignment);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

[[gnu::noinline]] void release(void* memory) noexcept {
  if (memory != nullptr) {
    --numLive;
    std::free(memory);
  }
}

}  // namespace
}  // namespace weft::tests

#if !WEFT_THREAD_SANITIZER_ENABLED
// Instead of the standard library's, whose other forms call these. AddressSanitizer's do not; ThreadSanitizer
// keeps its own.
void* operator new(size_t size) { return weft::tests::allocateOrThrow(size, 1); }
void* operator new[](size_t size) { return weft::tests::allocateOrThrow(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return weft::tests::allocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return weft::tests::allocate(size, 1); }
void operator delete(void* memory) noexcept { weft::tests::release(memory); }
void operator delete[](void* memory) noexcept { weft::tests::release(memory); }
void operator delete(void* memory, size_t) noexcept { weft::tests::release(memory); }
void operator delete[](void* memory, size_t) noexcept { weft::tests::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { weft::tests::release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { weft::tests::release(memory); }
#endif

namespace weft::tests {
namespace {

// Takes its memory from operator new, and so fails as that does.
class NewAllocator final : public Allocator {
 public:
  Allocation allocate(const Allocation::Request& request) override {
    return {allocateOrThrow(request.size, request.alignment), request};
  }
  void free(const Allocation& allocation) override { release(allocation.ptr); }
};

// One use of an operation, in which one call of operator new may fail.
class Attempt {
 public:
  static constexpr int kNever = 1'000'000;

  explicit Attempt(int failing) : failing_(failing) {}

  // Calls f(), in which the call fails. To be called once.
  // Returns: whether f() has succeeded.
  template <class F>
  bool operator()(F&& f) {
    numUntilFailure = failing_;
    bool isDone = false;
    try {
      std::forward<F>(f)();
      isDone = true;
    } catch (const std::bad_alloc&) {
    }
    hasFailed_ = numUntilFailure < 0;
    numUntilFailure = -1;
    EXPECT_TRUE(isDone || hasFailed_) << "std::bad_alloc without a failure";
    return isDone;
  }

  bool hasFailed() const { return hasFailed_; }
  Allocator* allocator() { return &allocator_; }

 private:
  const int failing_;
  bool hasFailed_ = false;
  NewAllocator allocator_;
};

// Too large for a pooled node.
using Large = std::array<char, 300>;
// Too long for what a string holds itself.
std::string longText() { return std::string(100, 'x'); }

// A function that counts its calls. It is too large for a pooled node, and its copies allocate too.
template <class Count>
auto counting(Count& count) {
  return [&count, text = longText(), large = Large()] {
    count += text.empty() || large.empty() ? 0 : 1;
    return static_cast<int>(count);
  };
}

void scheduleLarge(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto add = [&] { schedule(function); };
  const int expected = attempt(add) ? 2 : 1;
  add();
  while (numRun < expected) {
    yield();
  }
}
void scheduleBound(Attempt& attempt) {
  std::atomic<int> sum{0};
  const auto add = [&, text = longText()] {
    schedule([&sum](const std::string& a, int b) { sum += static_cast<int>(a.size()) + b; }, text, 1);
  };
  const int expected = attempt(add) ? 202 : 101;
  add();
  while (sum < expected) {
    yield();
  }
}

void enqueueTask(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto add = [&] {
    Task task([&numRun, text = longText()] { ++numRun; }, Task::Flags::SameThread);
    Scheduler::get()->enqueue(std::move(task));
  };
  const int expected = attempt(add) ? 2 : 1;
  add();
  while (numRun < expected) {
    yield();
  }
  EXPECT_EQ(numRun, expected);
}

template <class... Where>
void asyncOn(Attempt& attempt, Where&... where) {
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto begin = [&] { return async(where..., function); };
  Future<int> future;
  const int expected = attempt([&] { future = begin(); }) ? 2 : 1;
  EXPECT_EQ(future.valid(), expected == 2);
  if (future.valid()) {
    EXPECT_EQ(future.get(), 1);
  }
  EXPECT_EQ(begin().get(), expected);
}

void asyncHere(Attempt& attempt) { asyncOn(attempt); }
void asyncInline(Attempt& attempt) { asyncOn(attempt, inlineExecutor()); }
void asyncOnThread(Attempt& attempt) { asyncOn(attempt, threadExecutor()); }
void asyncInMainLoop(Attempt& attempt) {
  MainLoopExecutor loop;
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto begin = [&] { (void)async(loop, function); };
  const int expected = attempt(begin) ? 2 : 1;
  begin();
  loop.runAll();
  EXPECT_EQ(numRun, expected);
}
void mainLoopMade(Attempt& attempt) {
  attempt([] { MainLoopExecutor(); });
  MainLoopExecutor();
}

void thenOf(Attempt& attempt, bool isReady) {
  Promise<int> promise;
  Future<int> future = promise.get_future();
  if (isReady) {
    promise.set_value(20);
  }
  const auto addOne = [text = longText(), large = Large()](int value) {
    return value + (text.empty() || large.empty() ? 0 : 1);
  };
  const auto follow = [&] { return std::move(future).then(addOne); };
  Future<int> next;
  if (!attempt([&] { next = follow(); })) {
    ASSERT_TRUE(future.valid());  // nothing was taken
    next = follow();
  }
  if (!isReady) {
    promise.set_value(20);
  }
  EXPECT_EQ(next.get(), 21);
}
void thenOfReady(Attempt& attempt) { thenOf(attempt, true); }
void thenOfLater(Attempt& attempt) { thenOf(attempt, false); }

// The future of a future.
void unwrapped(Attempt& attempt) {
  Promise<std::string> inner;
  std::optional<Future<std::string>> given = inner.get_future();
  Promise<int> outer;
  Future<int> future = outer.get_future();
  const auto follow = [&] {
    return std::move(future).then(
        [&given, large = Large()](int) { return large.empty() ? Future<std::string>() : std::move(*given); });
  };
  Future<std::string> result;
  if (!attempt([&] { result = follow(); })) {
    result = follow();
  }
  outer.set_value(1);
  inner.set_value(longText());
  EXPECT_EQ(result.get(), longText());
}

void thenOfShared(Attempt& attempt) {
  Promise<std::string> promise;
  const SharedFuture<std::string> future = promise.get_future().share();
  const auto follow = [&] {
    return future.then([large = Large()](const std::string& text) { return text.size() + large.size(); });
  };
  Future<size_t> next;
  const bool isDone = attempt([&] { next = follow(); });
  Future<size_t> another = follow();
  promise.set_value(longText());
  EXPECT_EQ(another.get(), 400u);
  if (isDone) {
    EXPECT_EQ(next.get(), 400u);
  }
}

void promiseMade(Attempt& attempt) {
  using Value = std::array<std::string, 20>;
  Future<Value> future;
  std::optional<Promise<Value>> promise;
  attempt([&] {
    promise.emplace();
    future = promise->get_future();
  });
  promise.emplace();
  future = promise->get_future();
  promise->set_value(Value{longText()});
  EXPECT_EQ(future.get()[0], longText());
}

// An exception of the value's copy becomes that of the future.
void promiseSet(Attempt& attempt) {
  Promise<std::string> promise;
  Future<std::string> future = promise.get_future();
  const std::string text = longText();
  EXPECT_TRUE(attempt([&] { promise.set_value(text); }));
  if (attempt.hasFailed()) {
    EXPECT_THROW((void)future.get(), std::bad_alloc);
  } else {
    EXPECT_EQ(future.get(), text);
  }
}

// Where the call throws, the futures are the caller's still.
template <class When>
void whenOf(Attempt& attempt, const When& when) {
  std::vector<Promise<int>> promises(5);
  std::vector<Future<int>> futures;
  for (Promise<int>& promise : promises) {
    futures.push_back(promise.get_future());
  }
  decltype(when(std::move(futures))) result;
  const auto begin = [&] { result = when(std::move(futures)); };
  if (!attempt(begin)) {
    for (const Future<int>& future : futures) {
      ASSERT_TRUE(future.valid());
    }
    begin();
  }
  for (Promise<int>& promise : promises) {
    promise.set_value(1);
  }
  result.wait();
  EXPECT_TRUE(result.ready());
}
void whenAllOf(Attempt& attempt) {
  whenOf(attempt, [](std::vector<Future<int>>&& futures) {
    return whenAll(std::make_move_iterator(futures.begin()), std::make_move_iterator(futures.end()));
  });
}
void whenAnyOf(Attempt& attempt) {
  whenOf(attempt, [](std::vector<Future<int>>&& futures) { return whenAny(futures); });
}
void whenAllEach(Attempt& attempt) {
  Promise<int> first;
  Promise<std::string> second;
  const auto join = [&](auto& a, auto& b) { return whenAll(a, b); };
  const SharedFuture<int> a = first.get_future().share();
  const SharedFuture<std::string> b = second.get_future().share();
  std::optional<decltype(join(a, b))> result;
  attempt([&] { result = join(a, b); });
  auto another = join(a, b);
  first.set_value(1);
  second.set_value(longText());
  EXPECT_EQ(std::get<0>(another.get()).get(), 1);
  if (result) {
    EXPECT_EQ(std::get<1>(result->get()).get(), longText());
  }
}

void whenAnyEach(Attempt& attempt) {
  Promise<int> first;
  Promise<std::string> second;
  Future<int> a = first.get_future();
  Future<std::string> b = second.get_future();
  const auto join = [&] { return whenAny(std::move(a), std::move(b)); };
  decltype(join()) result;
  const auto begin = [&] { result = join(); };
  if (!attempt(begin)) {
    ASSERT_TRUE(a.valid() && b.valid());
    begin();
  }
  second.set_value(longText());
  EXPECT_EQ(std::get<1>(result.get().futures).get(), longText());
}

void groupRuns(Attempt& attempt) {
  TaskGroup group;
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto add = [&] { group.run(function); };
  const int expected = attempt(add) ? 3 : 2;
  add();
  group.wait();
  add();
  group.wait();
  EXPECT_EQ(numRun, expected);
}
void groupMade(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto use = [&] {
    TaskGroup group;
    const std::stop_token token = group.token();
    group.run([&numRun] { ++numRun; });
    group.cancel();
    EXPECT_TRUE(token.stop_requested());
    group.wait();
  };
  attempt(use);
  use();
}
// What a task threw comes to wait() also where no memory is left.
void groupFails(Attempt& attempt) {
  TaskGroup group;
  group.run([] { throw 7; });
  int thrown = 0;
  EXPECT_TRUE(attempt([&] {
    try {
      group.wait();
    } catch (int value) {
      thrown = value;
    }
  }));
  EXPECT_EQ(thrown, 7);
  EXPECT_TRUE(group.isCanceled());
  EXPECT_TRUE(group.token().stop_requested());
}
// It has no token yet.
void groupCanceled(Attempt& attempt) {
  TaskGroup group;
  EXPECT_TRUE(attempt([&] { group.cancel(); }));
  EXPECT_TRUE(group.token().stop_requested());
}
void groupOnThreads(Attempt& attempt) {
  TaskGroup group(threadExecutor());
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto add = [&] { group.run(function); };
  const int expected = attempt(add) ? 2 : 1;
  add();
  group.wait();
  EXPECT_EQ(numRun, expected);
}

void dagBuilt(Attempt& attempt) {
  int numRun = 0;
  const auto use = [&] {
    DAG<int&>::Builder builder(attempt.allocator());
    auto last = builder.root();
    for (int i = 0; i < 10; ++i) {
      last = builder.node([large = Large()](int& count) { count += large.empty() ? 0 : 1; },
                          {builder.root(), last});
    }
    builder.build()->run(numRun);
  };
  const bool isDone = attempt(use);
  EXPECT_EQ(numRun, isDone ? 10 : 0);
  use();
}
void dagRun(Attempt& attempt) {
  DAG<int&>::Builder builder(attempt.allocator());
  auto left = builder.root().then([](int& count) { ++count; });
  builder.node([](int& count) { ++count; }, {left, builder.root()});
  const auto dag = builder.build();
  int numRun = 0;
  const bool isDone = attempt([&] { dag->run(numRun); });
  EXPECT_EQ(numRun, isDone ? 2 : 0);
  dag->run(numRun);
  EXPECT_EQ(numRun, isDone ? 4 : 2);
}

void ticketCalls(Attempt& attempt) {
  Ticket::Queue queue;
  const Ticket first = queue.take(), second = queue.take(), third = queue.take();
  std::atomic<int> numRun{0};
  const auto call = counting(numRun);
  if (!attempt([&] { second.onCall(call); })) {
    second.onCall(call);
  }
  first.done();
  second.wait();
  while (numRun == 0) {
    yield();
  }
  second.done();
  third.wait();
  third.done();
  EXPECT_EQ(numRun, 1);
}
void ticketsTaken(Attempt& attempt) {
  Ticket::Queue queue;
  std::vector<Ticket> tickets;
  attempt([&] { queue.take(20, [&](Ticket&& ticket) { tickets.push_back(std::move(ticket)); }); });
  for (const Ticket& ticket : tickets) {
    ticket.done();
  }
  queue.take().wait();
}

void channelMade(Attempt& attempt) {
  const auto use = [&] {
    const Channel<int> channel(300, attempt.allocator());
    channel.send(1);
    EXPECT_EQ(channel.receive(), 1);
  };
  attempt(use);
  use();
}
void channelSends(Attempt& attempt) {
  const Channel<std::string> channel(4);
  const std::string text = longText();
  const auto send = [&] { channel.send(text); };
  const bool isDone = attempt(send);
  send();
  for (int i = isDone ? 2 : 1; i > 0; --i) {
    EXPECT_EQ(channel.tryReceive(), text);
  }
  EXPECT_EQ(channel.tryReceive(), std::nullopt);
}
// A receiver waits for the value.
void channelHandsOver(Attempt& attempt) {
  const Channel<std::string> channel;
  const std::string text = longText();
  Future<std::string> received = async([channel] { return *channel.receive(); });
  yield();
  if (!attempt([&] { channel.send(text); })) {
    channel.send(text);
  }
  EXPECT_EQ(received.get(), text);
}
void selectSends(Attempt& attempt) {
  const Channel<std::string> channel(1);
  const std::string text = longText();
  bool isSent = false;
  const auto send = [&] { select(onSend(channel, text, [&] { isSent = true; })); };
  if (!attempt(send)) {
    EXPECT_FALSE(isSent);
    EXPECT_EQ(channel.tryReceive(), std::nullopt);
    send();
  }
  EXPECT_EQ(channel.tryReceive(), text);
}

// Each of these has a state that an allocator gives.
template <class T>
void made(Attempt& attempt, const std::function<T(Allocator*)>& make, void (*use)(const T&)) {
  std::optional<T> value;
  if (attempt([&] { value.emplace(make(attempt.allocator())); })) {
    use(*value);
  }
  use(make(attempt.allocator()));
}
void eventMade(Attempt& attempt) {
  made<Event>(
      attempt, [](Allocator* from) { return Event(Event::Mode::Auto, false, from); },
      [](const Event& event) {
        event.signal();
        event.wait();
      });
}
void waitGroupMade(Attempt& attempt) {
  made<WaitGroup>(
      attempt, [](Allocator* from) { return WaitGroup(1, from); },
      [](const WaitGroup& group) {
        group.done();
        group.wait();
      });
}

// An event signals those made of it, and those made of these, whatever memory there is.
void eventPassesOn(Attempt& attempt) {
  const Event source(Event::Mode::Manual);
  std::vector<Event> anys;
  for (int i = 0; i < 30; ++i) {
    const Event& from = i < 20 ? source : anys[static_cast<size_t>(i - 10)];
    anys.push_back(Event::any(&from, &from + 1));
  }
  EXPECT_TRUE(attempt([&] { source.signal(); }));
  EXPECT_FALSE(attempt.hasFailed()) << "a signal calls operator new";
  for (const Event& any : anys) {
    EXPECT_TRUE(any.isSignalled());
  }
}
void anyMade(Attempt& attempt) {
  std::vector<Event> sources(3);
  const auto make = [&] { return Event::any(sources.begin(), sources.end()); };
  std::optional<Event> any;
  attempt([&] { any = make(); });
  const Event another = make();
  sources[1].signal();
  EXPECT_TRUE(another.test());
}

template <class P>
void poolOf(Attempt& attempt) {
  const auto use = [&] {
    const P pool(attempt.allocator());
    std::vector<typename P::Loan> loans;
    for (int i = 0; i < 20; ++i) {
      loans.push_back(pool.borrow());
      *loans.back() = longText();
    }
    pool.borrow(3, [](typename P::Loan&& loan) { loan->clear(); });
  };
  attempt(use);
  use();
}
void boundedPool(Attempt& attempt) { poolOf<BoundedPool<std::string, 40>>(attempt); }
void unboundedPool(Attempt& attempt) { poolOf<UnboundedPool<std::string>>(attempt); }
void reconstructedPool(Attempt& attempt) {
  struct Text {
    std::string text = longText();
  };
  const BoundedPool<Text, 2, PoolPolicy::Reconstruct> pool;
  const auto use = [&] { EXPECT_EQ(pool.borrow()->text, longText()); };
  attempt(use);
  for (int i = 0; i < 3; ++i) {
    use();
  }
}

void fiberLocal(Attempt& attempt) {
  const FiberLocal<std::array<std::string, 10>> local(
      [] { return std::array<std::string, 10>{longText(), longText()}; });
  const auto use = [&] { EXPECT_EQ((*local)[1], longText()); };
  (void)async([&] {
    attempt(use);
    use();
  }).get();
}

// A function that throws has not been called once.
void onceCalled(Attempt& attempt) {
  Once once;
  std::string text;
  const auto call = [&] { once.call([&] { text = longText(); }); };
  attempt(call);
  call();
  EXPECT_EQ(text, longText());
}

void calledBlocking(Attempt& attempt) {
  const auto call = [&] { EXPECT_EQ(blocking_call([] { return longText(); }), longText()); };
  attempt(call);
  call();
}

void threadStarted(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto start = [&] {
    Thread(Thread::Affinity::all(), [&numRun, text = longText()] { ++numRun; }).join();
  };
  const int expected = attempt(start) ? 2 : 1;
  start();
  EXPECT_EQ(numRun, expected);
}

void affinity(Attempt& attempt) {
  const auto use = [&] {
    Thread::Affinity all = Thread::Affinity::all(attempt.allocator());
    Thread::Affinity some(all, attempt.allocator());
    some.remove(all).add(all);
    const auto policy = Thread::Affinity::Policy::anyOf(std::move(some), attempt.allocator());
    EXPECT_GT(policy->get(0, attempt.allocator()).count(), 0u);
    EXPECT_EQ(Thread::Affinity::Policy::oneOf(std::move(all), attempt.allocator())
                  ->get(1, attempt.allocator())
                  .count(),
              1u);
  };
  attempt(use);
  use();
}

// The workers start with functions of the user's.
void schedulerMade(Attempt& attempt) {
  std::atomic<int> numStarted{0};
  const auto use = [&] {
    Scheduler scheduler(smallConfig(2).setWorkerThreadInitializer(
        [&numStarted, text = longText()](int) { numStarted += text.empty() ? 0 : 1; }));
    Scheduler::Stats stats = scheduler.stats();
    EXPECT_EQ(stats.workers.size(), 2u);
  };
  attempt(use);
  numStarted = 0;
  use();
  EXPECT_EQ(numStarted, 2);
}
void poolExecutorMade(Attempt& attempt) {
  std::atomic<int> numStarted{0};
  const auto use = [&] {
    const auto hook = [&numStarted, text = longText()] { numStarted += text.empty() ? 0 : 1; };
    PoolExecutor pool(2, hook, hook);
  };
  attempt(use);
  numStarted = 0;
  use();
  EXPECT_EQ(numStarted, 4);
}

void sorted(Attempt& attempt) {
  std::vector<std::string> texts(3000);
  for (size_t i = 0; i < texts.size(); ++i) {
    texts[i] = std::to_string(i * 7919 % 3001) + longText();
  }
  std::vector<std::string> expected = texts;
  std::sort(expected.begin(), expected.end());
  if (!attempt([&] { parallelStableSort(texts); })) {
    // What a sort that throws leaves is what it was given, in some order.
    std::vector<std::string> left = texts;
    std::sort(left.begin(), left.end());
    EXPECT_EQ(left, expected);
    parallelSort(texts);
  }
  EXPECT_EQ(texts, expected);
}
void scanned(Attempt& attempt) {
  const std::vector<int> ones(10'000, 1);
  std::vector<int> sums(ones.size());
  const auto scan = [&] { parallelScan(ones, sums.begin()); };
  attempt(scan);
  scan();
  EXPECT_EQ(sums.back(), 10'000);
}
void pipelined(Attempt& attempt) {
  int sum = 0;
  const auto use = [&] {
    sum = 0;
    int next = 0;
    parallelPipeline(4, serialStage([&] { return next < 10 ? std::optional<int>(++next) : std::nullopt; }),
                     parallelStage([](int value) { return 2 * value; }),
                     serialStage([&](int value) { sum += value; }));
  };
  attempt(use);
  use();
  EXPECT_EQ(sum, 110);
}
void sortedElsewhere(Attempt& attempt) {
  PoolExecutor pool(1);
  std::vector<int> numbers(1000);
  std::iota(numbers.rbegin(), numbers.rend(), 0);
  const auto sort = [&] { parallelSort(pool, numbers); };
  attempt(sort);
  sort();
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

void finallyMade(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto use = [&] { EXPECT_NE(make_shared_finally(function), nullptr); };
  const int expected = attempt(use) ? 2 : 1;
  use();
  EXPECT_EQ(numRun, expected);
}

void conditionAwaited(Attempt& attempt) {
  mutex guard;
  ConditionVariable condition;
  std::stop_source source;
  bool isReady = false;
  const auto wait = [&] {
    lock held(guard);
    (void)condition.wait_for(held, std::chrono::microseconds(1), [&] { return isReady; });
    EXPECT_FALSE(guard.try_lock());
  };
  EXPECT_TRUE(attempt(wait));
  isReady = true;
  wait();
}
void stopAwaited(Attempt& attempt) {
  mutex guard;
  guard.lock();
  const auto wait = [&] {
    std::stop_source source;
    (void)async([source]() mutable { source.request_stop(); });
    EXPECT_FALSE(async([&] { return guard.lock(source.get_token()); }).get());
  };
  attempt(wait);
  wait();
  guard.unlock();
}

// In a thread that has had no wait handler before.
void waitHandlerSet(Attempt& attempt) {
  std::thread thread([&] {
    int numWaits = 0;
    const Event event;
    const std::string text = longText();
    const auto set = [&] {
      (void)setThreadWaitHandler([&numWaits, event, text](const WaitHandle& wait) {
        ++numWaits;
        event.signal();
        while (!wait.ready()) {
          std::this_thread::yield();
        }
      });
    };
    attempt(set);
    set();
    event.wait();
    EXPECT_EQ(numWaits, 1);
  });
  thread.join();
}

// The steps of fair tasks run on other threads, where nothing fails.
struct Fair {
  fair::TaskScheduler scheduler{"fair", 1};
  std::atomic<int> numRun{0};
};
void fairMade(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto use = [&] {
    fair::TaskScheduler scheduler(longText(), 2);
    scheduler.postOneShot([&numRun] { ++numRun; });
    scheduler.waitEmpty();
    EXPECT_EQ(scheduler.stats().size(), 2u);
  };
  attempt(use);
  numRun = 0;
  use();
  EXPECT_EQ(numRun, 1);
}
void fairPosted(Attempt& attempt) {
  Fair fair;
  const auto function = counting(fair.numRun);
  const auto post = [&] { fair.scheduler.postOneShot(function); };
  const int expected = attempt(post) ? 2 : 1;
  post();
  fair.scheduler.waitEmpty();
  EXPECT_EQ(fair.numRun, expected);
}
void fairTask(Attempt& attempt) {
  std::atomic<int> sum{0};
  const auto make = [&](int value) {
    return [&sum, value, text = longText()] { sum += text.empty() ? 0 : value; };
  };
  const auto before = make(1), after = make(10);
  fair::Task task(before);
  const int expected = attempt([&] {
    fair::Task another(before);
    task.setCallback(after);
  })
                           ? 10
                           : 1;
  fair::TaskScheduler scheduler("fair");
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(sum, expected);
}
void fairAsync(Attempt& attempt) {
  Fair fair;
  const auto body = [](int value) -> fair::Coro<std::string> {
    co_await fair::yield();
    co_return std::string(100, static_cast<char>('a' + value));
  };
  std::optional<Future<std::string>> future;
  attempt([&] { future = fair::async(fair.scheduler, body(0)); });
  EXPECT_EQ(fair::async(fair.scheduler, body(1)).get(), std::string(100, 'b'));
  if (future) {
    EXPECT_EQ(future->get(), std::string(100, 'a'));
  }
}
// The frame of a coroutine that another one calls.
void fairCalls(Attempt& attempt) {
  Fair fair;
  const auto inner = [](std::string text) -> fair::Coro<std::string> { co_return text; };
  const auto outer = [&]() -> fair::Coro<std::string> {
    std::optional<fair::Coro<std::string>> called;
    if (!attempt([&] { called.emplace(inner(longText())); })) {
      called.emplace(inner(longText()));
    }
    co_return co_await std::move(*called);
  };
  EXPECT_EQ(fair::async(fair.scheduler, outer()).get(), longText());
}
void fairThen(Attempt& attempt) {
  Fair fair;
  asyncOn(attempt, fair.scheduler);
}
void fairTakenBack(Attempt& attempt) {
  Fair fair;
  fair.scheduler.stop();
  std::vector<std::unique_ptr<fair::Task>> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(std::make_unique<fair::Task>([&] { ++fair.numRun; }));
    if (i % 3 == 0) {
      fair.scheduler.postWait(tasks.back().get());
    } else {
      fair.scheduler.post(tasks.back().get());
    }
  }
  fair.scheduler.postOneShot([&] { fair.numRun += 100; });
  std::vector<fair::Task*> taken;
  if (!attempt([&] { taken = fair.scheduler.takeBack(); })) {
    EXPECT_FALSE(fair.scheduler.isEmpty());
    taken = fair.scheduler.takeBack();
  }
  ASSERT_EQ(taken.size(), 10u);
  for (size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(taken[i], tasks[i].get());
  }
  fair.scheduler.start();
  fair.scheduler.waitEmpty();
  EXPECT_EQ(fair.numRun, 100);
}
// A task waits until `source`, which signal() signals, has signalled it.
template <class Source, class Signal>
void fairSignalledBy(Attempt& attempt, const Source& source, const Signal& signal) {
  Fair fair;
  fair::Task task([&](fair::Task* self) {
    if (self->receiveSignal()) {
      ++fair.numRun;
    } else {
      fair.scheduler.postWait(self);
    }
  });
  fair.scheduler.postWait(&task);
  fair::PendingSignal pending;
  const auto await = [&] { pending = fair::signalAfter(source, fair.scheduler, &task); };
  if (!attempt(await)) {
    await();
  }
  signal();
  fair.scheduler.waitEmpty();
  EXPECT_EQ(fair.numRun, 1);
}
void fairSignalled(Attempt& attempt) {
  const Event event;
  fairSignalledBy(attempt, event, [&] {
    event.signal();
    yield();
  });
}
void fairSignalledByFuture(Attempt& attempt) {
  Promise<int> promise;
  fairSignalledBy(attempt, promise.get_future(), [&] { promise.set_value(1); });
}

void containersUsed(Attempt& attempt) {
  const auto use = [&] {
    containers::vector<std::string, 2> texts(attempt.allocator());
    for (int i = 0; i < 10; ++i) {
      texts.push_back(longText());
    }
    containers::vector<std::string, 4> copy(texts, attempt.allocator());
    texts.resize(3);
    copy = texts;
    EXPECT_EQ(copy.size(), 3u);
    containers::list<std::string> list(attempt.allocator());
    for (int i = 0; i < 10; ++i) {
      list.emplace_front(longText());
    }
    list.erase(list.begin());
  };
  attempt(use);
  use();
}

void taskMade(Attempt& attempt) {
  std::atomic<int> numRun{0};
  const auto use = [&] {
    Task task(
        [&numRun, text = longText(), large = Large()] { numRun += text.empty() || large.empty() ? 0 : 1; });
    task();
  };
  const int expected = attempt(use) ? 2 : 1;
  use();
  EXPECT_EQ(numRun, expected);
}

struct Operation {
  const char* name;
  void (*use)(Attempt&);
  bool isUnaware = false;  // it never calls operator new
};

std::ostream& operator<<(std::ostream& stream, const Operation& value) { return stream << value.name; }

// Returns: whether no more is allocated than before. A thread that has ended its work may be about to give
// memory back.
bool comesBackTo(int64_t before) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (numLive > before && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  return numLive <= before;
}

class FailingAllocationsTest : public ::testing::TestWithParam<Operation> {
 protected:
  void SetUp() override {
    if (!mayStartThreads(2)) {
      GTEST_SKIP() << "the system refuses threads";
    }
    if (WEFT_THREAD_SANITIZER_ENABLED != 0) {
      GTEST_SKIP() << "operator new is ThreadSanitizer's";
    }
  }

  // Lets each call of operator new fail, one after the other. `use(attempt)` uses the operation.
  template <class Use>
  static void failEach(const Use& use) {
    failEach(use, 0);
    failEach(use, 1);
  }
  template <class Use>
  static void failEach(const Use& use, int numWorkers) {
    SCOPED_TRACE(std::to_string(numWorkers) + " workers");
    Scheduler scheduler(smallConfig(numWorkers));
    Scheduler::Binding bound(scheduler);
    {
      // What the library keeps for ever is made by the first use.
      Attempt attempt(Attempt::kNever);
      use(attempt);
    }
    for (int failing = 0; !HasFailure(); ++failing) {
      SCOPED_TRACE(failing);
      const int64_t before = numLive;
      Attempt attempt(failing);
      use(attempt);
      ASSERT_TRUE(comesBackTo(before)) << numLive - before << " allocations were leaked";
      if (!attempt.hasFailed()) {
        EXPECT_NE(failing > 0, GetParam().isUnaware) << "whether operator new is called";
        return;
      }
    }
  }
};

TEST_P(FailingAllocationsTest, OutsideOfTasksLeaveEverythingUsableAndNothingBehind) {
  failEach(GetParam().use);
}

TEST_P(FailingAllocationsTest, InATaskLeaveEverythingUsableAndNothingBehind) {
  failEach([](Attempt& attempt) {
    const WaitGroup done(1);
    schedule([&, done] {
      GetParam().use(attempt);
      done.done();
    });
    done.wait();
  });
}

#define WEFT_OPERATION(function) \
  Operation { #function, &function }

INSTANTIATE_TEST_SUITE_P(
    Of, FailingAllocationsTest,
    ::testing::Values(
        WEFT_OPERATION(scheduleLarge), WEFT_OPERATION(scheduleBound), WEFT_OPERATION(enqueueTask),
        WEFT_OPERATION(asyncHere), WEFT_OPERATION(asyncInline), WEFT_OPERATION(asyncOnThread),
        WEFT_OPERATION(asyncInMainLoop), WEFT_OPERATION(mainLoopMade), WEFT_OPERATION(thenOfReady),
        WEFT_OPERATION(thenOfLater), WEFT_OPERATION(thenOfShared), WEFT_OPERATION(unwrapped),
        WEFT_OPERATION(promiseMade), WEFT_OPERATION(promiseSet), WEFT_OPERATION(whenAllOf),
        WEFT_OPERATION(whenAnyOf), WEFT_OPERATION(whenAllEach), WEFT_OPERATION(whenAnyEach),
        WEFT_OPERATION(groupRuns), WEFT_OPERATION(groupMade), WEFT_OPERATION(groupOnThreads),
        Operation{"groupFails", &groupFails, true}, Operation{"groupCanceled", &groupCanceled, true},
        WEFT_OPERATION(dagBuilt), WEFT_OPERATION(dagRun), WEFT_OPERATION(ticketCalls),
        WEFT_OPERATION(ticketsTaken), WEFT_OPERATION(channelMade), WEFT_OPERATION(channelSends),
        WEFT_OPERATION(channelHandsOver), WEFT_OPERATION(selectSends), WEFT_OPERATION(eventMade),
        WEFT_OPERATION(waitGroupMade), Operation{"eventPassesOn", &eventPassesOn, true},
        Operation{"anyMade", &anyMade, true}, WEFT_OPERATION(boundedPool), WEFT_OPERATION(unboundedPool),
        WEFT_OPERATION(reconstructedPool), WEFT_OPERATION(fiberLocal), WEFT_OPERATION(onceCalled),
        WEFT_OPERATION(finallyMade), WEFT_OPERATION(calledBlocking), WEFT_OPERATION(threadStarted),
        WEFT_OPERATION(affinity)),
    [](const auto& param) { return std::string(param.param.name); });

INSTANTIATE_TEST_SUITE_P(
    OfMore, FailingAllocationsTest,
    ::testing::Values(WEFT_OPERATION(schedulerMade), WEFT_OPERATION(poolExecutorMade), WEFT_OPERATION(sorted),
                      WEFT_OPERATION(scanned), WEFT_OPERATION(pipelined),
                      Operation{"sortedElsewhere", &sortedElsewhere, true},
                      Operation{"conditionAwaited", &conditionAwaited, true}, WEFT_OPERATION(stopAwaited),
                      WEFT_OPERATION(waitHandlerSet), WEFT_OPERATION(fairMade), WEFT_OPERATION(fairPosted),
                      WEFT_OPERATION(fairTask), WEFT_OPERATION(fairAsync), WEFT_OPERATION(fairThen),
                      WEFT_OPERATION(fairCalls), WEFT_OPERATION(fairTakenBack), WEFT_OPERATION(fairSignalled),
                      Operation{"fairSignalledByFuture", &fairSignalledByFuture, true},
                      WEFT_OPERATION(containersUsed), WEFT_OPERATION(taskMade)),
    [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace weft::tests
