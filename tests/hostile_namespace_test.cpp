// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fair/task.h>
#include <weft/weft.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

// A namespace that has functions of the names that weft uses inside, which are found for arguments of its
// types: whatever calls one of weft's without saying whose it means does not compile.
// tests/cmake/qualified_calls.cmake looks at all such calls; this shows what becomes of them. (The tool comes
// to no end with such a macro.)
//
// clang-format off
#define WEFT_TEST_NAMES(DO)                                                                        \
  DO(addItems) DO(announce) DO(assertCallable) DO(bestIn) DO(callOrHandle) DO(copyAlone)           \
  DO(copyIn) DO(copyShared) DO(countBetween)                                                       \
  DO(countIn) DO(deadlineAfter) DO(endLike) DO(findIn) DO(hasAny) DO(hasAnyOther)                  \
  DO(extremeIn) DO(parallelFind) DO(placeBetween) DO(placeFrom) DO(placeIn) DO(placeOf)            \
  DO(destroyObjects)                                                                               \
  DO(finishChild) DO(forEachOf) DO(freeNode) DO(grainForEachThread) DO(irange) DO(join)            \
  DO(make_finally) DO(makeObjects) DO(parallelFor) DO(parallelSort) DO(parallelStableSort)         \
  DO(partition) DO(partitionWithGrain) DO(reduceFrom) DO(reduceOf) DO(requestFor) DO(runOn)        \
  DO(scanFrom) DO(scanOf) DO(schedule) DO(setRooms) DO(sleep_until) DO(sortWith) DO(stretchOf)     \
  DO(transformTo) DO(waitForChild) DO(waitUntilByClock)
// clang-format on

namespace hostile {

#define WEFT_TEST_DELETE(name)                  \
  template <class First, class... Others>       \
  void name(First&&, Others&&...) = delete;     \
  template <class First, class Second>          \
  void name(First&, const Second&) = delete;    \
  template <class First, class Second, class T> \
  void name(First&, const Second&, const T&) = delete;
WEFT_TEST_NAMES(WEFT_TEST_DELETE)

struct Element {
  int value = 0;

  friend bool operator<(const Element& a, const Element& b) { return a.value < b.value; }
  friend Element operator+(const Element& a, const Element& b) { return {a.value + b.value}; }
};

// A forward iterator.
struct Iterator {
  using iterator_category = std::forward_iterator_tag;
  using value_type = Element;
  using difference_type = std::ptrdiff_t;
  using pointer = Element*;
  using reference = Element&;

  Element& operator*() const { return *at; }
  Iterator& operator++() {
    ++at;
    return *this;
  }
  Iterator operator++(int) { return {at++}; }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.at == b.at; }

  Element* at;
};
void skip(Iterator&, std::size_t) = delete;
template <class Any>
void operator,(Iterator&, Any&&) = delete;

struct Add {
  Element operator()(const Element& a, const Element& b) const { return a + b; }
};
struct Increment {
  void operator()(Element& element) const { ++element.value; }
};
struct IsTwo {
  bool operator()(const Element& element) const { return element.value == 2; }
};
struct Copy {
  Element operator()(const Element& element) const { return element; }
};
struct Call {
  int operator()() const { return ++*numCalls; }

  std::atomic<int>* numCalls;
};

}  // namespace hostile

namespace {

class HostileNamespaceTest : public ::testing::Test {
 protected:
  HostileNamespaceTest()
      : scheduler_(weft::Scheduler::Config().setWorkerThreadCount(2)), bound_(scheduler_) {}

 private:
  weft::Scheduler scheduler_;
  weft::Scheduler::Binding bound_;
};

TEST_F(HostileNamespaceTest, ParallelAlgorithmsCallTheirOwnFunctions) {
  using hostile::Element;
  std::vector<Element> elements(10'000), out(10'000);
  const hostile::Iterator first{elements.data()}, last{elements.data() + elements.size()}, to{out.data()};
  weft::parallelFor(first, last, hostile::Increment());
  weft::parallelFor(weft::autoPartitioner(elements, 10), hostile::Increment());
  weft::parallelFor(weft::staticPartitioner(elements, 10), hostile::Increment());
  EXPECT_EQ(weft::parallelReduce(first, last, Element(), hostile::Add()).value, 30'000);
  EXPECT_EQ(weft::parallelMapReduce(elements, Element(), hostile::Copy(), hostile::Add()).value, 30'000);
  weft::parallelScan(first, last, to, hostile::Add());
  EXPECT_EQ(out.back().value, 30'000);
  weft::parallelExclusiveScan(elements, to, Element(), hostile::Add());
  weft::parallelTransform(first, last, to, hostile::Copy());
  weft::parallelTransform(elements, elements, to, hostile::Add());
  EXPECT_EQ(weft::parallelFind(first, last, hostile::IsTwo()), last);
  EXPECT_EQ(weft::parallelFind(weft::autoPartitioner(elements, 10), hostile::IsTwo()), elements.end());
  EXPECT_FALSE(weft::parallelAnyOf(first, last, hostile::IsTwo()));
  EXPECT_FALSE(weft::parallelAllOf(first, last, hostile::IsTwo()));
  EXPECT_TRUE(weft::parallelNoneOf(first, last, hostile::IsTwo()));
  EXPECT_EQ(weft::parallelCountIf(first, last, hostile::IsTwo()), 0u);
  EXPECT_EQ(weft::parallelCopyIf(first, last, to, hostile::IsTwo()), to);
  EXPECT_EQ(weft::parallelMinElement(first, last), first);
  EXPECT_EQ(weft::parallelMaxElement(first, last), first);
  weft::parallelSort(elements);
  weft::parallelStableSort(elements.begin(), elements.end());
  weft::parallelPipeline(2, weft::serialStage([&, next = size_t{0}]() mutable {
                           return next < 10 ? std::optional<Element>(elements[next++]) : std::nullopt;
                         }),
                         weft::parallelStage(hostile::Copy()), weft::serialStage(hostile::Copy()));
}

TEST_F(HostileNamespaceTest, TasksAreRunByWeft) {
  std::atomic<int> numCalls{0};
  const hostile::Call call{&numCalls};
  weft::join(call, call);
  weft::parallelInvoke(weft::inlineExecutor(), call, call);
  weft::parallelize(call, call);
  weft::TaskGroup group;
  group.run(call);
  group.wait();
  weft::WaitGroup done(1);
  weft::schedule([&, call] {
    call();
    done.done();
  });
  done.wait();
  EXPECT_EQ(numCalls.load(), 8);
}

TEST_F(HostileNamespaceTest, FairTasksAreMadeByWeft) {
  std::atomic<int> numCalls{0};
  weft::fair::Task task(hostile::Call{&numCalls});
  task.setCallback(hostile::Call{&numCalls});
  EXPECT_EQ(numCalls.load(), 0);
}

TEST_F(HostileNamespaceTest, ContainersOfItsTypesAreWefts) {
  weft::BoundedPool<hostile::Element, 4> bounded;
  weft::UnboundedPool<hostile::Element> unbounded;
  EXPECT_EQ(bounded.borrow()->value, 0);
  EXPECT_EQ(unbounded.borrow()->value, 0);
  weft::Channel<hostile::Element> channel(1);
  channel.send(hostile::Element{1});
  EXPECT_EQ(channel.receive()->value, 1);
  weft::FiberLocal<hostile::Element> local;
  EXPECT_EQ(local->value, 0);
  weft::WorkerLocal<hostile::Element> values;
  EXPECT_EQ(values.local().value, 0);
  values.forEach([](const hostile::Element& element) { EXPECT_EQ(element.value, 0); });
  auto owned = weft::Allocator::Default->make_unique<hostile::Element>();
  EXPECT_EQ(owned->value, 0);
}

}  // namespace
