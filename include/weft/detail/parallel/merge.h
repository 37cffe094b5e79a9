// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/sort.h"
#include "weft/detail/parallel/step_count.h"
#include "weft/join.h"

namespace weft::inline v0_1::detail {

// Returns: the first place in [first, last) that does not lie before what is looked for. By subscripts, since
// std::lower_bound walks iterators that yield values, such as those of irange().
template <class Iterator, class IsBefore>
Iterator boundBetween(Iterator first, Iterator last, IsBefore&& isBefore) {
  std::ptrdiff_t count = last - first;
  while (count > 0) {
    const std::ptrdiff_t half = count / 2;
    if (isBefore(first[half])) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

// Cuts a merge of two sorted ranges into two that are independent: the longer range at its middle, the other
// where that element belongs. Equal elements of the first range come first. Moves the two ends to the cut.
template <class First, class Second, class Less>
void cutMerge(First first, First& firstEnd, Second second, Second& secondEnd, Less& less) {
  if (firstEnd - first >= secondEnd - second) {
    const First middle = first + (firstEnd - first) / 2;
    secondEnd = detail::boundBetween(second, secondEnd,
                                     [&](auto&& element) -> bool { return less(element, *middle); });
    firstEnd = middle;
  } else {
    const Second middle = second + (secondEnd - second) / 2;
    firstEnd = detail::boundBetween(first, firstEnd,
                                    [&](auto&& element) -> bool { return !less(*middle, element); });
    secondEnd = middle;
  }
}

// Merges until one of the ranges is used up. Equal elements of the first range come first. put(to, from)
// writes the element at `from`. The iterators say how far it has come, also after an exception.
template <class First, class Second, class Out, class Less, class Steps, class Put>
[[gnu::always_inline]] inline void mergeWhileBoth(First& first, const First& firstEnd, Second& second,
                                                  const Second& secondEnd, Out& to, Less& less, Steps& steps,
                                                  Put put) {
  while (first != firstEnd && second != secondEnd) {
    const First firstStop = first + std::min<std::ptrdiff_t>(firstEnd - first, Steps::kPiece / 2);
    const Second secondStop = second + std::min<std::ptrdiff_t>(secondEnd - second, Steps::kPiece / 2);
    const Out begin = to;
    for (; first != firstStop && second != secondStop; ++to) {
      if (less(*second, *first)) {
        put(to, second);
        ++second;
      } else {
        put(to, first);
        ++first;
      }
    }
    steps.add(to - begin);
  }
}

// Merges two sorted ranges into a third place. Long merges are cut in two, and both parts forked.
template <class First, class Second, class Out, class Less>
class Merge {
 public:
  explicit Merge(Less& less) : less_(less) {}

  // Returns: the end of what was written.
  Out merge(First first, First firstEnd, Second second, Second secondEnd, Out out) {
    const std::ptrdiff_t count = (firstEnd - first) + (secondEnd - second);
    const auto forEachThread = static_cast<std::ptrdiff_t>(grainForEachThread(static_cast<size_t>(count)));
    mergedAlone_ = forEachThread >= count ? count : std::max(forEachThread / 4, kMergedAlone);
    mergePart(first, firstEnd, second, secondEnd, out);
    return out + count;
  }

 private:
  using Steps = StepCount<kIsCheap<Less, std::iter_value_t<First>> &&
                          std::is_same_v<std::iter_value_t<First>, std::iter_value_t<Second>>>;

  static constexpr std::ptrdiff_t kMergedAlone = 4096;

  void mergePart(First first, First firstEnd, Second second, Second secondEnd, Out out) {
    if ((firstEnd - first) + (secondEnd - second) <= mergedAlone_) {
      mergeAlone(first, firstEnd, second, secondEnd, out);
      return;
    }
    First firstCut = firstEnd;
    Second secondCut = secondEnd;
    detail::cutMerge(first, firstCut, second, secondCut, less_);
    const Out outCut = out + ((firstCut - first) + (secondCut - second));
    weft::join([&] { mergePart(first, firstCut, second, secondCut, out); },
               [&] { mergePart(firstCut, firstEnd, secondCut, secondEnd, outCut); });
  }

  void mergeAlone(First first, First firstEnd, Second second, Second secondEnd, Out out) {
    Steps steps;
    const auto put = [](Out& to, auto& from) { *to = *from; };
    detail::mergeWhileBoth(first, firstEnd, second, secondEnd, out, less_, steps, put);
    const auto copy = [&out](auto from, auto to) { out = std::copy(from, to, out); };
    steps.inPieces(first, firstEnd, copy);
    steps.inPieces(second, secondEnd, copy);
    steps.letOthersRun();
  }

  Less& less_;
  std::ptrdiff_t mergedAlone_ = 0;
};

template <class First, class Second, class Out, class Less>
constexpr bool assertMergeable() {
  constexpr bool kHaveSubscripts = RandomAccess<First> && RandomAccess<Second>;
  static_assert(kHaveSubscripts,
                "parallelMerge() needs random-access iterators, since it looks for elements by halving. "
                "Merge vectors instead.");
  if constexpr (!kHaveSubscripts) {
    return false;
  } else {
    using A = decltype(*std::declval<First&>());
    using B = decltype(*std::declval<Second&>());
    constexpr bool kCanCompare = std::is_invocable_r_v<bool, Less&, B, A>;
    static_assert(
        kCanCompare,
        "parallelMerge(first, second, out, less) calls less(b, a) with an element of the second range "
        "and one of the first, and it returns a bool: this one cannot be called so. "
        "Without `less` the elements need an operator <.");
    if constexpr (!kCanCompare) {
      return false;
    } else if constexpr (!detail::assertOutput<Out, A>() || !detail::assertOutput<Out, B>()) {
      return false;
    } else {
      static_assert(RandomAccess<Out>, "parallelMerge() writes through a random-access iterator.");
      return RandomAccess<Out>;
    }
  }
}

// The ends: iterators, or sentinels of another type.
template <class First, class FirstEnd, class Second, class SecondEnd, class Out, class Less>
Out mergeTo(First first, const FirstEnd& firstEnd, Second second, const SecondEnd& secondEnd, Out out,
            Less& less) {
  if constexpr (detail::assertMergeable<First, Second, Out, Less>()) {
    detail::assertCallable(less, "parallelMerge");
    const auto numFirst = static_cast<std::ptrdiff_t>(detail::countBetween(first, firstEnd));
    const auto numSecond = static_cast<std::ptrdiff_t>(detail::countBetween(second, secondEnd));
    Merge<First, Second, Out, Less> whole(less);
    return whole.merge(first, first + numFirst, second, second + numSecond, out);
  }
  return out;
}

}  // namespace weft::inline v0_1::detail
