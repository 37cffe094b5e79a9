// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/detail/base/random.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/parallel/step_count.h"
#include "weft/detail/parallel/stop.h"

namespace weft::inline v0_1::detail {

// Quicksort (Hoare 1961) whose halves are forked. The pivot is the median of three medians of three (Bentley
// and McIlroy, "Engineering a Sort Function", 1993). Numbers are partitioned without a data-dependent branch:
// only the boundary moves by the comparison (see Edelkamp and Weiss, "BlockQuicksort", ESA 2016).
//
// Three things follow Peters, "Pattern-defeating Quicksort" (2021). Elements that equal the one before their
// part are split off at once. After an uneven partition, the next pivot's candidates are exchanged with
// others. After too many uneven partitions a sort that is never quadratic does the rest.
//
// No element is held outside the range while a comparator or a stop may throw, so none is lost. Each
// loop ends at an end of its part, whatever the comparator says: one that is no strict weak order, such as
// std::less_equal, makes it touch nothing outside the range, unlike std::sort.
//
// After some steps others have their turn on this thread. Comparisons are counted one by one, but numbers of
// a partition by the piece: counting each would cost as much as its comparison.
template <class Iterator, class Less, class Stop>
class Quicksort {
 public:
  Quicksort(Less& less, Stop stop) : less_(less), steps_(stop), stop_(stop) {}

  void sort(Iterator first, Iterator last) {
    if (last - first <= kFewElements || !isSorted(first, last)) {
      sortPart(first, last, static_cast<int>(std::bit_width(static_cast<size_t>(last - first))), true);
    }
  }

 private:
  using Value = std::iter_value_t<Iterator>;
  using Difference = std::iter_difference_t<Iterator>;

  using Steps = StepCount<kIsCheap<Less, Value>, Stop>;

  static constexpr Difference kFewElements = 24;
  static constexpr Difference kManyElements = 128;
  static constexpr Difference kWorthForking = 2048;
  static constexpr Difference kUneven = 8;
  static constexpr bool kAreNumbers =
      std::is_arithmetic_v<Value> && std::is_same_v<std::iter_reference_t<Iterator>, Value&>;
  // Cheap steps are not counted among few elements.
  static constexpr bool kFewNeverThrow = std::is_nothrow_invocable_v<Less&, const Value&, const Value&> &&
                                         (std::is_same_v<Stop, NeverStops> || kIsCheap<Less, Value>);

  bool isLess(const Value& left, const Value& right) {
    steps_.add(1);
    return less_(left, right);
  }

  bool isSorted(Iterator first, Iterator last) {
    bool is = true;
    while (is && last - first > 1) {
      const Iterator end = first + std::min<Difference>(last - first - 1, Steps::kPiece);
      is = std::is_sorted(first, end + 1, std::ref(less_));
      steps_.add(end - first);
      first = end;
    }
    return is;
  }

  // `isFirst`: no element lies right before the part. Otherwise that element is not greater than any in it.
  void sortPart(Iterator first, Iterator last, int unevenLeft, bool isFirst) {
    for (;;) {
      const Difference count = last - first;
      if (count <= kFewElements || unevenLeft == 0) {
        sortAlone(first, last);
        return;
      }
      movePivotTo(first, count);
      if (!isFirst && !isLess(*(first - 1), *first)) {
        first = split(first, last,
                      [this](const Value& pivot, const Value& value) { return !less_(pivot, value); }) +
                1;
        continue;
      }
      const Iterator middle =
          split(first, last, [this](const Value& pivot, const Value& value) { return less_(value, pivot); });
      if (std::min(middle - first, last - middle) < count / kUneven) {
        --unevenLeft;
        stir(first, middle);
        stir(middle + 1, last);
      }
      // The shorter part first, and the longer one in this frame: the stack stays short.
      const bool isLeftShorter = middle - first < last - middle;
      const Part left{first, middle, isFirst}, right{middle + 1, last, false};
      const Part& longer = isLeftShorter ? right : left;
      if (!sortShorter(isLeftShorter ? left : right, longer, unevenLeft, count >= kWorthForking)) {
        return;
      }
      first = longer.first;
      last = longer.last;
      isFirst = longer.isFirst;
    }
  }

  struct Part {
    Iterator first, last;
    bool isFirst;
  };

  // Returns: whether the longer part is left to do, or else another thread has done it.
  bool sortShorter(const Part& shorter, const Part& longer, int unevenLeft, bool mayFork) {
    const auto sort = [this, unevenLeft](const Part& part) {
      sortPart(part.first, part.last, unevenLeft, part.isFirst);
    };
    LocalDeque* local = mayFork ? ownLocalDeque() : nullptr;
    if (local == nullptr) {
      sort(shorter);
      return true;
    }
    // For the steps of another fiber.
    const auto sortLonger = [&] {
      Quicksort(less_, stop_).sortPart(longer.first, longer.last, unevenLeft, longer.isFirst);
    };
    Child<decltype(sortLonger)> child(sortLonger);
    local->fork(child);
    EscapedException exception;
    exception.capture([&] { sort(shorter); });
    const bool isLeft = child.takeBackOrWait(*local);
    EscapedException exceptionOfThief;
    if (!isLeft) {
      exceptionOfThief = child.takeError();
    }
    exception.rethrow();
    exceptionOfThief.rethrow();
    return isLeft;
  }

  // Moves the elements before the pivot, *first, to the front. Returns: where the pivot lies then.
  template <class IsBefore>
  Iterator split(Iterator first, Iterator last, IsBefore isBefore) {
    Iterator end = first + 1;
    if constexpr (kAreNumbers) {
      const Value pivot = *first;
      steps_.inPieces(end, last, [&](Iterator from, Iterator to) {
        Iterator boundary = end;
        for (Iterator it = from; it != to; ++it) {
          const Value value = *it;
          const bool belongsBefore = isBefore(pivot, value);
          *it = *boundary;
          *boundary = value;
          boundary += belongsBefore;
        }
        end = boundary;
      });
    } else {
      end = std::partition(end, last, [&](const Value& value) {
        steps_.add(1);
        return isBefore(*first, value);
      });
    }
    std::iter_swap(first, end - 1);
    return end - 1;
  }

  // For few elements, or after too many uneven partitions.
  void sortAlone(Iterator first, Iterator last) {
    if (last - first > kFewElements) {
      heapSort(first, last);
    } else if constexpr (kFewNeverThrow) {
      insertionSortHolding(first, last);
    } else {
      insertionSort(first, last);
    }
  }

  // Where neither a comparator nor a stop can throw.
  void insertionSortHolding(Iterator first, Iterator last) {
    for (Iterator it = first; it != last; ++it) {
      Value value = std::move(*it);
      Iterator to = it;
      for (; to != first && isLessAmongFew(value, *(to - 1)); --to) {
        *to = std::move(*(to - 1));
      }
      *to = std::move(value);
    }
  }
  bool isLessAmongFew(const Value& left, const Value& right) {
    return kIsCheap<Less, Value> ? less_(left, right) : isLess(left, right);
  }

  void insertionSort(Iterator first, Iterator last) {
    for (Iterator it = first; it != last; ++it) {
      Iterator to = it;
      if constexpr (kAreNumbers) {
        const Value value = *it;
        for (; to != first && less_(value, *(to - 1)); --to) {
          *to = *(to - 1);
          *(to - 1) = value;
        }
        steps_.add(it - to + 1);
      } else {
        while (to != first && isLess(*it, *(to - 1))) {
          --to;
        }
        if (to != it) {
          Value value = std::move(*it);
          std::move_backward(to, it, it + 1);
          *to = std::move(value);
        }
      }
    }
  }

  // Heapsort (Williams 1964), by swaps.
  void heapSort(Iterator first, Iterator last) {
    const Difference count = last - first;
    for (Difference at = count / 2; at != 0; --at) {
      siftDown(first, at - 1, count);
    }
    for (Difference left = count - 1; left > 0; --left) {
      std::iter_swap(first, first + left);
      siftDown(first, 0, left);
    }
  }
  void siftDown(Iterator first, Difference at, Difference count) {
    for (Difference child = 2 * at + 1; child < count; child = 2 * at + 1) {
      if (child + 1 < count && isLess(*(first + child), *(first + (child + 1)))) {
        ++child;
      }
      if (!isLess(*(first + at), *(first + child))) {
        return;
      }
      std::iter_swap(first + at, first + child);
      at = child;
    }
  }

  void movePivotTo(Iterator first, Difference count) {
    const Iterator middle = first + count / 2, last = first + (count - 1);
    if (count < kManyElements) {
      sortThree(middle, first, last);
      return;
    }
    const Difference step = count / 8;
    sortThree(first + step, first + 2 * step, first + 3 * step);
    sortThree(middle - step / 2, middle, middle + step / 2);
    sortThree(last - 3 * step + 1, last - 2 * step, last - step);
    sortThree(first + 2 * step, middle, last - 2 * step);
    std::iter_swap(first, middle);
  }

  void sortThree(Iterator a, Iterator b, Iterator c) {
    sortTwo(a, b);
    sortTwo(b, c);
    sortTwo(a, b);
  }
  void sortTwo(Iterator a, Iterator b) {
    if (isLess(*b, *a)) {
      std::iter_swap(a, b);
    }
  }

  // Exchanges the candidates for a pivot with others.
  static void stir(Iterator first, Iterator last) {
    const Difference count = last - first;
    if (count <= kFewElements) {
      return;
    }
    auto random = static_cast<uint64_t>(count);
    const auto exchange = [&](Difference at) {
      random = nextRandom(random);
      std::iter_swap(first + at, first + static_cast<Difference>(random % static_cast<uint64_t>(count)));
    };
    for (Difference eighth = 0; eighth < 8; ++eighth) {
      exchange(count / 8 * eighth);
      exchange(count / 8 * eighth + count / 16);
    }
    exchange(count - 1);
  }

  Less& less_;
  Steps steps_;
  [[no_unique_address]] Stop stop_;
};

}  // namespace weft::inline v0_1::detail
