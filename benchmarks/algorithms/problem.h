// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithms over vectors of ints:
//   find    the last of 10 M numbers is the one that is looked for
//   count   how many of 10 M numbers are odd
//   copy_if the half of 10 M numbers that a predicate chooses, here and there
//   merge   two vectors of 5 M sorted numbers into one

#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "../common/harness.h"

namespace algorithms {

inline std::vector<int> numbersBelow(int count) {
  std::vector<int> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// `find(numbers, predicate)` returns an iterator.
template <class Find>
void measureFind(bench::Run& run, Find&& find) {
  const int count = run.size(10'000'000, 10'000);
  const std::vector<int> numbers = numbersBelow(count);
  const double ns = run.medianNs(
      [&] {
        const auto found = find(numbers, [last = count - 1](int x) { return x == last; });
        bench::check(found == numbers.end() - 1, "find");
      },
      9);
  run.metric("ms", ns / 1e6);
}

// `count(numbers, predicate)` returns a number.
template <class Count>
void measureCount(bench::Run& run, Count&& count) {
  const std::vector<int> numbers = numbersBelow(run.size(10'000'000, 10'000));
  const double ns = run.medianNs(
      [&] {
        const auto numOdd = static_cast<size_t>(count(numbers, [](int x) { return x % 2 != 0; }));
        bench::check(numOdd == numbers.size() / 2, "count");
      },
      9);
  run.metric("ms", ns / 1e6);
}

// `copyIf(numbers, out, predicate)` returns the end of what it has written. What is copied follows no pattern
// that a processor could predict.
template <class CopyIf>
void measureCopyIf(bench::Run& run, CopyIf&& copyIf) {
  const std::vector<int> numbers = numbersBelow(run.size(10'000'000, 10'000));
  const auto isChosen = [](int x) {
    const unsigned mixed = static_cast<unsigned>(x) * 2'654'435'769u;
    return ((mixed ^ mixed >> 15) * 2'246'822'519u) >> 31 != 0;
  };
  std::vector<int> expected(numbers.size()), copies(numbers.size());
  expected.erase(std::copy_if(numbers.begin(), numbers.end(), expected.begin(), isChosen), expected.end());
  auto end = copies.begin();
  const double ns = run.medianNs([&] { end = copyIf(numbers, copies.begin(), isChosen); }, 9);
  bench::check(std::equal(copies.begin(), end, expected.begin(), expected.end()), "copy_if");
  run.metric("ms", ns / 1e6);
}

// `merge(first, second, out)` writes to the iterator `out`.
template <class Merge>
void measureMerge(bench::Run& run, Merge&& merge) {
  const std::vector<int> first = numbersBelow(run.size(5'000'000, 10'000));
  std::vector<int> second = first;
  for (int& number : second) {
    number += number % 3;
  }
  std::sort(second.begin(), second.end());
  std::vector<int> expected(first.size() + second.size());
  std::merge(first.begin(), first.end(), second.begin(), second.end(), expected.begin());
  std::vector<int> merged(expected.size());
  const double ns = run.medianNs([&] { merge(first, second, merged.begin()); }, 9);
  bench::check(merged == expected, "merge");
  run.metric("ms", ns / 1e6);
}

}  // namespace algorithms
