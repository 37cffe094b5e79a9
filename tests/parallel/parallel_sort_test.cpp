// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "in_task.h"
#include "waiting.h"

namespace weft::parallel_sort_test {
namespace {

using tests::inTask;
using tests::scaled;

// Makes quicksort with the median of the first, the middle and the last element quadratic (Musser,
// "Introspective Sorting and Selection Algorithms", 1997).
std::vector<int> killerOfMedianOfThree(int count) {
  std::vector<int> result(static_cast<size_t>(count));
  const int half = count / 2;
  for (int i = 0; i < half; ++i) {
    result[static_cast<size_t>(i)] = i % 2 == 0 ? i + 1 : half + i + (half % 2 == 0 ? 0 : 1);
    result[static_cast<size_t>(half + i)] = 2 * (i + 1);
  }
  return result;
}

// Input against which any quicksort whose pivots depend on comparisons alone does badly: the values are
// decided while it sorts (McIlroy, "A Killer Adversary for Quicksort", 1999). Element 0 is the greatest from
// the beginning, since a look whether all are in order would decide that they are.
class Adversary {
 public:
  explicit Adversary(size_t count) : values_(count, kGas) { values_[0] = kGas + 1; }
  static constexpr int kGas = 1 << 30;

  bool operator()(int a, int b) {
    ++numCompares_;
    const auto x = static_cast<size_t>(a), y = static_cast<size_t>(b);
    if (values_[x] == kGas && values_[y] == kGas) {
      values_[a == candidate_ ? x : y] = numSolid_++;
    }
    if (values_[x] == kGas) {
      candidate_ = a;
    } else if (values_[y] == kGas) {
      candidate_ = b;
    }
    return values_[x] < values_[y];
  }
  uint64_t numCompares() const { return numCompares_; }
  int valueOf(int element) const { return values_[static_cast<size_t>(element)]; }

 private:
  std::vector<int> values_;
  int numSolid_ = 0;
  int candidate_ = 0;
  uint64_t numCompares_ = 0;
};

struct Input {
  std::string name;
  std::vector<int> values;
};

std::vector<Input> inputsOf(int count) {
  const auto size = static_cast<size_t>(count);
  std::vector<Input> inputs;
  const auto add = [&](const char* name, auto&& valueAt) {
    std::vector<int> values(size);
    for (int i = 0; i < count; ++i) {
      values[static_cast<size_t>(i)] = valueAt(i);
    }
    inputs.push_back({name, std::move(values)});
  };
  std::mt19937 random(static_cast<unsigned>(count));
  add("random", [&](int) { return static_cast<int>(random()); });
  add("sorted", [](int i) { return i; });
  add("reversed", [](int i) { return -i; });
  add("equal", [](int) { return 7; });
  add("few distinct", [&](int) { return static_cast<int>(random() % 5); });
  add("organ pipe", [count](int i) { return std::min(i, count - i); });
  add("sawtooth", [](int i) { return i % 100; });
  add("sorted but for the end",
      [count](int i) { return i < count - count / 100 - 1 ? i : count / 2 + i % 7; });
  add("all but one equal", [count](int i) { return i == count / 3 ? -1 : 0; });
  inputs.push_back({"killer of the median of three", killerOfMedianOfThree(count)});
  return inputs;
}

const int kSizes[] = {0, 1, 2, 3, 24, 25, 127, 1000, 2049, scaled(100'003, 12'003)};

class ParallelSortTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelSortTest);

// The oracle. std::sort needs more stack than a fiber of these tests has under AddressSanitizer.
template <class T>
void sortWithoutRecursion(std::vector<T>& elements) {
  std::make_heap(elements.begin(), elements.end());
  std::sort_heap(elements.begin(), elements.end());
}

void sortAllInputs() {
  for (const int size : kSizes) {
    for (const auto& [name, values] : inputsOf(size)) {
      std::vector<int> expected = values;
      sortWithoutRecursion(expected);
      std::vector<int> sorted = values;
      parallelSort(sorted);
      ASSERT_EQ(sorted, expected) << name << ' ' << size;
      std::reverse(expected.begin(), expected.end());
      sorted = values;
      parallelSort(sorted.begin(), sorted.end(), std::greater<>());
      ASSERT_EQ(sorted, expected) << name << ' ' << size;
    }
  }
}

// Sorts by a part of each element, so that many are equal.
void stableSortAllInputs() {
  using Element = std::pair<int, int>;
  for (const int size : kSizes) {
    for (const auto& [name, values] : inputsOf(size)) {
      std::vector<Element> elements;
      for (int i = 0; i < static_cast<int>(values.size()); ++i) {
        elements.emplace_back(values[static_cast<size_t>(i)] / 16, i);
      }
      std::vector<Element> expected = elements;
      const auto byFirst = [](const Element& a, const Element& b) { return a.first < b.first; };
      sortWithoutRecursion(expected);  // the second part is where the element lies
      parallelStableSort(elements, byFirst);
      ASSERT_EQ(elements, expected) << name << ' ' << size;
    }
  }
}

TEST(ParallelSortUnboundTest, SortsWhereNoSchedulerIsBound) {
  sortAllInputs();
  stableSortAllInputs();
}

TEST_P(ParallelSortTest, SortsAsTheStandardLibraryDoes) {
  sortAllInputs();
  inTask(sortAllInputs);
}

TEST_P(ParallelSortTest, AStableSortKeepsTheOrderOfEqualElements) {
  stableSortAllInputs();
  inTask(stableSortAllInputs);
}

TEST_P(ParallelSortTest, SortsStringsArraysDequesAndMoveOnlyElements) {
  inTask([] {
    std::mt19937 random(1);
    std::vector<std::string> strings;
    std::vector<std::unique_ptr<int>> pointers, stable;
    std::deque<double> numbers;
    for (int i = 0; i < 10'000; ++i) {
      strings.push_back(std::to_string(random()));
      pointers.push_back(std::make_unique<int>(static_cast<int>(random())));
      stable.push_back(std::make_unique<int>(*pointers.back()));
      numbers.push_back(static_cast<double>(random()));
    }
    const auto byValue = [](const auto& a, const auto& b) { return *a < *b; };
    parallelSort(strings);
    parallelSort(pointers, byValue);
    parallelStableSort(stable, byValue);
    parallelSort(numbers);
    EXPECT_TRUE(std::is_sorted(strings.begin(), strings.end()));
    EXPECT_TRUE(std::is_sorted(pointers.begin(), pointers.end(), byValue));
    EXPECT_TRUE(std::equal(pointers.begin(), pointers.end(), stable.begin(),
                           [](auto& a, auto& b) { return *a == *b; }));
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
    int array[] = {3, 1, 2};
    parallelSort(array);
    EXPECT_EQ(array[0], 1);
    parallelStableSort(array, std::greater<>());
    EXPECT_EQ(array[0], 3);
    parallelSort(array, array + 2);
    EXPECT_EQ(array[0], 2);
  });
}

// Ends at the first zero.
struct Terminated {
  struct End {
    friend bool operator==(const int* at, End) { return *at == 0; }
  };
  int* begin() { return numbers.data(); }
  static End end() { return {}; }

  std::vector<int> numbers;
};

TEST_P(ParallelSortTest, SortsToASentinel) {
  for (const size_t count : {0, 1, 5, 3000}) {
    Terminated terminated{std::vector<int>(count + 2)};
    std::iota(terminated.numbers.rbegin() + 2, terminated.numbers.rend(), 1);
    terminated.numbers.back() = -1;
    std::vector<int> expected = terminated.numbers;
    std::sort(expected.begin(), expected.end() - 2);
    Terminated stable = terminated;
    parallelSort(terminated);
    EXPECT_EQ(terminated.numbers, expected);
    parallelStableSort(stable.begin(), Terminated::end());
    EXPECT_EQ(stable.numbers, expected);
    parallelSort(std::counted_iterator(stable.begin(), static_cast<std::ptrdiff_t>(count)),
                 std::default_sentinel, std::greater<>());
    EXPECT_TRUE(std::is_sorted(stable.numbers.begin(), stable.numbers.end() - 2, std::greater<>()));
  }
}

TEST_P(ParallelSortTest, SortsNothingWhereTheEndsAreReversed) {
  inTask([] {
    for (const std::ptrdiff_t size : {1, 20, 10'000}) {
      std::vector<std::ptrdiff_t> values;
      for (std::ptrdiff_t i = 0; i < size; ++i) {
        values.push_back(size - i);
      }
      const std::vector<std::ptrdiff_t> before = values;
      parallelSort(values.end(), values.begin());
      parallelStableSort(values.end(), values.begin());
      EXPECT_EQ(values, before);
    }
  });
}

TEST(ParallelSortUnboundTest, AnAdversaryDoesNotMakeItQuadratic) {
  constexpr size_t kCount = 20'000;
  std::vector<int> elements(kCount);
  std::iota(elements.begin(), elements.end(), 0);
  Adversary adversary(kCount);
  parallelSort(elements, adversary);
  EXPECT_GT(adversary.numCompares(), kCount * 15) << "it has not met what it is against";
  EXPECT_LT(adversary.numCompares(), kCount * 15 * 12);
  EXPECT_TRUE(std::is_sorted(elements.begin(), elements.end(),
                             [&](int a, int b) { return adversary.valueOf(a) < adversary.valueOf(b); }));
}

// Returns: `values` as they are after a comparator threw at its call number `callsUntil`.
template <class T>
std::vector<T> afterAThrow(std::vector<T> values, int callsUntil, bool isStable) {
  std::atomic<int> callsLeft{callsUntil};
  const auto less = [&](const T& a, const T& b) {
    if (callsLeft.fetch_sub(1) <= 0) {
      throw std::runtime_error("less");
    }
    return a < b;
  };
  try {
    isStable ? parallelStableSort(values, less) : parallelSort(values, less);
    EXPECT_GE(callsLeft.load(), 0) << callsUntil;
  } catch (const std::runtime_error&) {
    EXPECT_LT(callsLeft.load(), 0);
  }
  return values;
}

// All elements are there, whichever order they are in.
TEST_P(ParallelSortTest, AComparatorThatThrowsIsHeardAndNoElementIsLost) {
  const int size = scaled(20'000, 3000);
  std::mt19937 random(1);
  // Of these, the second kind comes down to the heap sort.
  for (std::vector<int> numbers : {inputsOf(size)[0].values, killerOfMedianOfThree(size)}) {
    std::vector<std::string> strings;
    for (const int number : numbers) {
      strings.push_back("a string that is longer than what fits without memory: " + std::to_string(number));
    }
    std::vector<int> sortedNumbers = numbers;
    std::vector<std::string> sortedStrings = strings;
    sortWithoutRecursion(sortedNumbers);
    sortWithoutRecursion(sortedStrings);
    for (int round = 0; round < scaled(20, 6); ++round) {
      const int callsUntil = static_cast<int>(random() % static_cast<unsigned>(size * 10));
      for (const bool isStable : {false, true}) {
        std::vector<int> after = afterAThrow(numbers, callsUntil, isStable);
        sortWithoutRecursion(after);
        ASSERT_EQ(after, sortedNumbers) << callsUntil;
        std::vector<std::string> stringsAfter = afterAThrow(strings, callsUntil, isStable);
        sortWithoutRecursion(stringsAfter);
        ASSERT_EQ(stringsAfter, sortedStrings) << callsUntil;
      }
    }
  }
}

// Its moves throw from one of them on.
struct Fragile {
  explicit Fragile(int of, std::atomic<int>& left) : value(of), movesLeft(&left) {}
  Fragile(Fragile&& other) : value(other.value), movesLeft(other.movesLeft) { count(); }
  Fragile& operator=(Fragile&& other) {
    value = other.value;
    count();
    return *this;
  }
  void count() const {
    if (movesLeft->fetch_sub(1) <= 0) {
      throw std::runtime_error("move");
    }
  }
  bool operator<(const Fragile& other) const { return value < other.value; }

  int value;
  std::atomic<int>* movesLeft;
};

// Returns: elements of random values that share the count of moves that are left.
template <class Element>
std::vector<Element> madeOf(size_t size, std::mt19937& random, std::atomic<int>& movesLeft) {
  std::vector<Element> elements;
  elements.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    elements.emplace_back(static_cast<int>(random()), movesLeft);
  }
  return elements;
}

TEST_P(ParallelSortTest, AMoveThatThrowsIsHeard) {
  inTask([] {
    constexpr size_t kSize = 10'000;
    std::mt19937 random(1);
    for (int round = 0; round < scaled(40, 10); ++round) {
      std::atomic<int> movesLeft{1 << 30};
      auto elements = madeOf<Fragile>(kSize, random, movesLeft);
      movesLeft = static_cast<int>(random() % 20'000);
      if (round % 2 == 0) {
        EXPECT_THROW(parallelSort(elements), std::runtime_error);
      } else {
        EXPECT_THROW(parallelStableSort(elements), std::runtime_error);
      }
      movesLeft = 1 << 30;
    }
  });
}

// One of its moves throws.
struct OnceFragile {
  explicit OnceFragile(int of, std::atomic<int>& left) : value(std::make_unique<int>(of)), movesLeft(&left) {}
  OnceFragile(OnceFragile&& other) : movesLeft(other.movesLeft) { take(other); }
  OnceFragile& operator=(OnceFragile&& other) {
    take(other);
    return *this;
  }
  void take(OnceFragile& other) {
    if (movesLeft->fetch_sub(1) == 1) {
      throw std::runtime_error("move");
    }
    value = std::move(other.value);
  }
  bool operator<(const OnceFragile& other) const { return *value < *other.value; }

  std::unique_ptr<int> value;
  std::atomic<int>* movesLeft;
};

TEST_P(ParallelSortTest, AMoveThatThrowsLosesOnlyWhatIsBeingMoved) {
  inTask([] {
    constexpr size_t kSize = 5000;
    std::mt19937 random(1);
    for (int round = 0; round < scaled(60, 20); ++round) {
      std::atomic<int> movesLeft{1 << 30};
      auto elements = madeOf<OnceFragile>(kSize, random, movesLeft);
      movesLeft = 1 + static_cast<int>(random() % 20'000);
      if (round % 2 == 0) {
        EXPECT_THROW(parallelSort(elements), std::runtime_error);
      } else {
        EXPECT_THROW(parallelStableSort(elements), std::runtime_error);
      }
      EXPECT_LE(
          std::count_if(elements.begin(), elements.end(), [](auto& each) { return each.value == nullptr; }),
          2);
    }
  });
}

TEST_P(ParallelSortTest, ComparatorsMayWait) {
  inTask([] {
    std::vector<int> values(5000);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<int>(i * 7919 % 5000);
    }
    mutex guarded;
    parallelSort(values, [&](int a, int b) {
      std::scoped_lock guard(guarded);
      if (a % 1000 == 0) {
        yield();
      }
      return a < b;
    });
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  });
}

TEST_P(ParallelSortTest, TasksAndThreadsSortAtTheSameTime) {
  tests::Crew crew(scheduler());
  for (int i = 0; i < 6; ++i) {
    crew.start(tests::kindOf(i), [i] {
      for (const auto& [name, values] : inputsOf(5000 + i)) {
        std::vector<int> sorted = values;
        parallelSort(sorted);
        EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end())) << name;
      }
    });
  }
}

struct Numbered {
  int key;
  int number;
};

// Equal elements lie before and after what is sorted. The first and the last element of all would end a loop
// that runs beyond the range.
template <class LessEqual>
void expectNothingOutsideIsTouched(LessEqual lessEqual) {
  constexpr int kOutside = 100;
  for (int count : {2, 17, 20, 24, 25, 100, 5000}) {
    std::vector<Numbered> all(static_cast<size_t>(count + 2 * kOutside), Numbered{1, 0});
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].number = static_cast<int>(i);
    }
    all.front().key = 0;
    all.back().key = 2;
    parallelSort(all.begin() + kOutside, all.end() - kOutside, lessEqual);
    std::vector<bool> isThere(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const auto number = static_cast<size_t>(all[i].number);
      const bool isInside = i >= kOutside && i < all.size() - kOutside;
      EXPECT_TRUE(isInside ? number >= kOutside && number < all.size() - kOutside : number == i)
          << "element " << i << " of " << count;
      EXPECT_FALSE(isThere.at(number)) << "element " << i << " of " << count;
      isThere.at(number) = true;
    }
  }
}

TEST_P(ParallelSortTest, AComparatorThatIsNoStrictOrderTouchesNothingOutsideTheRange) {
  inTask([] {
    expectNothingOutsideIsTouched(
        [](const Numbered& a, const Numbered& b) noexcept { return a.key <= b.key; });
    expectNothingOutsideIsTouched([](const Numbered& a, const Numbered& b) { return a.key <= b.key; });
  });
}

}  // namespace
}  // namespace weft::parallel_sort_test
