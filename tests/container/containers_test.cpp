// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/containers.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "with_scheduler.h"

namespace weft {
namespace {

using containers::list;
using containers::take;
using containers::vector;

class ContainersTest : public tests::WithAllocator {
 protected:
  size_t numAllocated(Allocation::Usage usage) {
    return allocator()->stats().byUsage[static_cast<size_t>(usage)].count;
  }
  size_t numVectors() { return numAllocated(Allocation::Usage::Vector); }
};

template <class Vector>
std::vector<std::string> contents(const Vector& strings) {
  return {strings.begin(), strings.end()};
}

using Strings = std::vector<std::string>;

const std::string kLong(100, 'x');  // no small string

// The standard library's.

TEST_F(ContainersTest, AliasesTakeTheirMemoryFromTheAllocator) {
  containers::deque<int> deque(allocator());
  containers::map<int, std::string> map(allocator());
  containers::set<int> set(allocator());
  containers::unordered_map<int, std::string> unorderedMap(allocator());
  containers::unordered_set<int> unorderedSet(allocator());
  const size_t before = numAllocated(Allocation::Usage::Stl);
  for (int i = 0; i < 100; ++i) {
    deque.push_back(i);
    map[i] = unorderedMap[i] = kLong;
    set.insert(i);
    unorderedSet.insert(i);
  }
  EXPECT_GE(numAllocated(Allocation::Usage::Stl), before + 400);
}

TEST_F(ContainersTest, TakeTakesTheFirstOfAQueue) {
  containers::deque<std::unique_ptr<int>> queue(allocator());
  queue.push_back(std::make_unique<int>(1));
  queue.push_back(std::make_unique<int>(2));
  EXPECT_EQ(*take(queue), 1);
  EXPECT_EQ(*take(queue), 2);
  EXPECT_TRUE(queue.empty());
}

TEST_F(ContainersTest, TakeTakesAnyOfASet) {
  containers::unordered_set<std::string> strings(allocator());
  strings.insert({"a", "b", kLong});
  Strings taken;
  while (!strings.empty()) {
    taken.push_back(take(strings));
  }
  std::sort(taken.begin(), taken.end());
  EXPECT_EQ(taken, (Strings{"a", "b", kLong}));
}

// vector

TEST_F(ContainersTest, VectorNeedsNoAllocationUpToItsBaseCapacity) {
  vector<std::string, 4> strings(allocator());
  EXPECT_EQ(strings.cap(), 4u);
  for (int i = 0; i < 4; ++i) {
    strings.push_back(std::to_string(i));
  }
  EXPECT_EQ(numVectors(), 0u);
  strings.emplace_back("4");
  EXPECT_EQ(numVectors(), 1u);
  EXPECT_EQ(contents(strings), (Strings{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(strings.front(), "0");
  EXPECT_EQ(strings.back(), "4");
  EXPECT_EQ(strings[2], "2");
  strings.pop_back();
  EXPECT_EQ(strings.size(), 4u);
}

TEST_F(ContainersTest, VectorWithoutABaseCapacityWorks) {
  vector<int, 0> numbers(allocator());
  EXPECT_EQ(numbers.cap(), 0u);
  for (int i = 0; i < 1'000; ++i) {
    numbers.push_back(i);
  }
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 499'500);
  EXPECT_EQ(numVectors(), 1u);
}

TEST_F(ContainersTest, VectorTakesACopyOfAnElementOfItsOwn) {
  vector<std::string, 1> strings(allocator());
  strings.push_back(kLong);
  for (int i = 0; i < 100; ++i) {
    strings.push_back(strings[0]);
  }
  EXPECT_EQ(contents(strings), Strings(101, kLong));
}

TEST_F(ContainersTest, VectorCopiesBetweenCapacities) {
  vector<std::string, 2> small(allocator());
  for (int i = 0; i < 5; ++i) {
    small.push_back(std::to_string(i));
  }
  const vector<std::string, 2> same(small, allocator());
  const vector<std::string, 8> large(small, allocator());
  EXPECT_EQ(contents(same), contents(small));
  EXPECT_EQ(contents(large), contents(small));
  vector<std::string, 1> assigned(allocator());
  assigned.push_back("old");
  assigned = large;
  EXPECT_EQ(contents(assigned), contents(small));
  assigned = *&assigned;
  EXPECT_EQ(contents(assigned), contents(small));
}

TEST_F(ContainersTest, VectorMovesItsMemoryWhereItHasSome) {
  vector<std::string, 1> from(allocator());
  from.push_back(kLong);
  from.push_back("b");
  const std::string* const first = from.data();
  vector<std::string, 4> to(std::move(from), allocator());
  EXPECT_EQ(to.data(), first);
  EXPECT_EQ(contents(to), (Strings{kLong, "b"}));
  EXPECT_EQ(from.size(), 0u);
  EXPECT_EQ(from.cap(), 1u);
  from.push_back("again");
  to = std::move(from);
  EXPECT_EQ(contents(to), Strings{"again"});
}

TEST_F(ContainersTest, VectorMovesElementsThatLieInIt) {
  vector<std::unique_ptr<int>, 4> from(allocator());
  from.emplace_back(std::make_unique<int>(1));
  from.emplace_back(new int(2));
  vector<std::unique_ptr<int>, 1> to(std::move(from), allocator());
  EXPECT_EQ(*to[0] + *to[1], 3);
  EXPECT_EQ(from.size(), 0u);
  vector<std::unique_ptr<int>, 4> other(allocator());
  other = std::move(to);
  EXPECT_EQ(*other.back(), 2);
}

TEST_F(ContainersTest, VectorMovesBetweenAllocators) {
  TrackedAllocator second(Allocator::Default);
  {
    vector<std::string, 1> from(allocator());
    from.push_back(kLong);
    from.push_back(kLong);
    vector<std::string, 1> to(std::move(from), &second);
    EXPECT_EQ(contents(to), Strings(2, kLong));
    EXPECT_EQ(second.stats().numAllocations(), 1u);
  }
  tests::expectNothingAllocated(second);
}

TEST_F(ContainersTest, VectorResizesAndReserves) {
  vector<int, 2> numbers(allocator());
  numbers.resize(5);
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 0);
  numbers[4] = 1;
  numbers.resize(1);
  EXPECT_EQ(numbers.size(), 1u);
  numbers.reserve(100);
  EXPECT_GE(numbers.cap(), 100u);
  EXPECT_EQ(numbers.size(), 1u);
}

TEST_F(ContainersTest, VectorIsARangeOfMemory) {
  vector<int, 2> numbers(allocator());
  numbers.push_back(1);
  numbers.push_back(2);
  const std::span<const int> span = numbers;
  EXPECT_EQ(span.data(), std::as_const(numbers).data());
  EXPECT_EQ(span.size(), 2u);
}

struct alignas(64) Aligned {
  char byte;
};

TEST_F(ContainersTest, VectorRespectsLargeAlignments) {
  vector<Aligned, 2> elements(allocator());
  for (char i = 0; i < 10; ++i) {
    elements.push_back({i});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(elements.data()) % alignof(Aligned), 0u);
  }
}

struct ThrowsWhenCopied {
  ThrowsWhenCopied() = default;
  ThrowsWhenCopied(const ThrowsWhenCopied&) { throw std::runtime_error("copied"); }
};

TEST_F(ContainersTest, VectorStaysAsItWasWhenAnElementCannotBeCopied) {
  vector<ThrowsWhenCopied, 1> elements(allocator());
  const ThrowsWhenCopied element;
  EXPECT_THROW(elements.push_back(element), std::runtime_error);
  EXPECT_EQ(elements.size(), 0u);
  elements.resize(1);
  EXPECT_THROW(elements.push_back(element), std::runtime_error);
  EXPECT_EQ(elements.size(), 1u);
}

TEST(ContainersDeathTest, PoppingFromAnEmptyVectorIsReported) {
  vector<int, 1> empty;
  EXPECT_DEATH(empty.pop_back(), "pop_back\\(\\) of an empty vector");
}

// list

TEST_F(ContainersTest, ListKeepsItsElementsWhereTheyAre) {
  list<std::string> strings(allocator());
  const auto c = strings.emplace_front("c");
  const std::string* const place = &*c;
  for (int i = 0; i < 100; ++i) {
    strings.emplace_front(kLong);
  }
  EXPECT_EQ(&*c, place);
  EXPECT_EQ(c->size(), 1u);
  EXPECT_EQ(strings.size(), 101u);
  EXPECT_EQ(strings.begin()->size(), kLong.size());
}

TEST_F(ContainersTest, ListErasesAnywhere) {
  list<int> numbers(allocator());
  std::vector<list<int>::iterator> places;
  for (int i = 0; i < 5; ++i) {
    places.push_back(numbers.emplace_front(i));
  }
  numbers.erase(places[2]);
  numbers.erase(places[4]);
  numbers.erase(places[0]);
  std::vector<int> left;
  for (auto it = numbers.begin(); it != numbers.end(); ++it) {
    left.push_back(*it);
  }
  EXPECT_EQ(left, (std::vector<int>{3, 1}));
}

TEST_F(ContainersTest, ListKeepsItsMemory) {
  list<std::unique_ptr<int>> numbers(allocator());
  const auto fillAndEmpty = [&] {
    for (int i = 0; i < 100; ++i) {
      numbers.emplace_front(new int(i));
    }
    while (numbers.size() > 0) {
      numbers.erase(numbers.begin());
    }
  };
  fillAndEmpty();
  const size_t before = numAllocated(Allocation::Usage::List);
  EXPECT_GT(before, 0u);
  fillAndEmpty();
  EXPECT_EQ(numAllocated(Allocation::Usage::List), before);
}

// Makes another element of the list while it is being made, and so on; the last one may throw.
struct Nested {
  Nested(list<Nested>& all, int howMany, bool throws) : depth(howMany) {
    if (howMany > 0) {
      all.emplace_front(all, howMany - 1, throws);
    } else if (throws) {
      throw std::runtime_error("no element");
    }
  }
  int depth;
};

TEST_F(ContainersTest, ListTakesElementsThatMakeOthersMeanwhile) {
  list<Nested> all(allocator());
  EXPECT_THROW(all.emplace_front(all, 20, true), std::runtime_error);
  EXPECT_EQ(all.size(), 0u);
  EXPECT_EQ(all.begin(), all.end());
  const size_t before = numAllocated(Allocation::Usage::List);
  all.emplace_front(all, 20, false);
  EXPECT_EQ(numAllocated(Allocation::Usage::List), before) << "what threw has kept entries";
  std::vector<int> depths;
  for (auto it = all.begin(); it != all.end(); ++it) {
    depths.push_back(it->depth);
  }
  std::vector<int> expected(21);
  std::iota(expected.rbegin(), expected.rend(), 0);
  EXPECT_EQ(depths, expected);
}

TEST_F(ContainersTest, ListRespectsLargeAlignments) {
  list<Aligned> elements(allocator());
  for (char i = 0; i < 20; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&*elements.emplace_front(Aligned{i})) % alignof(Aligned), 0u);
  }
}

// The examples of vector.h and list.h.
TEST_F(ContainersTest, PrimesOfTheExample) {
  const auto use = [](const int* data, size_t size) {
    EXPECT_EQ(size, 1u);
    EXPECT_EQ(*data, 2);
  };
  weft::containers::vector<int, 16> primes;
  primes.push_back(2);
  use(primes.data(), primes.size());
}

TEST_F(ContainersTest, JobsOfTheExample) {
  struct Job {
    explicit Job(int) {}
  };
  Allocator* const allocator = this->allocator();
  const int arguments = 1;
  weft::containers::list<Job> jobs(allocator);
  auto job = jobs.emplace_front(arguments);
  jobs.erase(job);
  EXPECT_EQ(jobs.size(), 0u);
}

}  // namespace
}  // namespace weft
