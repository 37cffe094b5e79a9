// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/detail/base/outcome.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/merge.h"
#include "weft/detail/parallel/step_count.h"
#include "weft/join.h"

namespace weft::inline v0_1::detail {

// Merge sort whose halves are forked. A merge of two sorted halves is cut in two. Exchanging the parts
// between the cuts leaves two independent merges (Kim and Kutzner, "Stable Minimum Storage Merging by
// Symmetric Comparisons", ESA 2004). Short merges use a buffer. If the comparator or a stop throws, no
// element is lost. If a move throws, only elements that are being moved or exchanged are. After some steps
// others have their turn on this thread.
template <class Iterator, class Less, class Stop>
class MergeSort {
 public:
  MergeSort(Less& less, Stop stop) : less_(less), stop_(stop) {}

  void sort(Iterator first, Iterator last) {
    const Difference count = last - first;
    const auto forEachThread = static_cast<Difference>(grainForEachThread(static_cast<size_t>(count)));
    if (forEachThread >= count) {
      Alone alone(stop_);
      sortAlone(first, last, alone);
      return;
    }
    mergedAlone_ = std::max(forEachThread / 4, kSortedAlone);
    sortPart(first, last);
  }

 private:
  using Difference = std::iter_difference_t<Iterator>;
  using Value = std::iter_value_t<Iterator>;
  using Buffer = std::vector<Value>;

  using Steps = StepCount<kIsCheap<Less, Value>, Stop>;

  // What a thread needs to sort or merge alone.
  struct Alone {
    explicit Alone(Stop stop) : steps(stop) {}
    Buffer buffer;
    Steps steps;
  };

  static constexpr bool kMovesNeverThrow =
      std::is_nothrow_move_constructible_v<Value> && std::is_nothrow_move_assignable_v<Value>;
  static constexpr Difference kFewElements = 16;
  static constexpr Difference kStepsOfFew = 64;
  static constexpr Difference kSortedAlone = 4096;

  void sortPart(Iterator first, Iterator last) {
    if (last - first <= kSortedAlone) {
      Alone alone(stop_);
      sortAlone(first, last, alone);
      return;
    }
    const Iterator middle = first + (last - first) / 2;
    weft::join([&] { sortPart(first, middle); }, [&] { sortPart(middle, last); });
    merge(first, middle, last);
  }

  void merge(Iterator first, Iterator middle, Iterator last) {
    if (last - first <= mergedAlone_) {
      Alone alone(stop_);
      mergeAlone(first, middle, last, alone);
      alone.steps.letOthersRun();
      return;
    }
    if (first == middle || middle == last || !less_(*middle, *(middle - 1))) {
      return;
    }
    Iterator left = middle, right = last;
    detail::cutMerge(first, left, middle, right, less_);
    const Iterator cut = std::rotate(left, middle, right);
    weft::join([&] { merge(first, left, cut); }, [&] { merge(cut, right, last); });
  }

  void sortAlone(Iterator first, Iterator last, Alone& alone) {
    if (last - first > kFewElements) {
      const Iterator middle = first + (last - first) / 2;
      sortAlone(first, middle, alone);
      sortAlone(middle, last, alone);
      mergeAlone(first, middle, last, alone);
      return;
    }
    for (Iterator it = first; it != last; ++it) {
      std::rotate(std::upper_bound(first, it, *it, std::ref(less_)), it, it + 1);
    }
    alone.steps.add(kStepsOfFew);
  }

  void mergeAlone(Iterator first, Iterator middle, Iterator last, Alone& alone) {
    if (first == middle || middle == last || !less_(*middle, *(middle - 1))) {
      alone.steps.add(1);
      return;
    }
    Buffer& buffer = alone.buffer;
    moveOut(first, middle, alone);
    auto rest = buffer.begin();
    Iterator to = first;
    EscapedException thrown;
    thrown.capture([&] {
      const auto put = [](Iterator& at, auto& from) { *at = std::move(*from); };
      detail::mergeWhileBoth(rest, buffer.end(), middle, last, to, less_, alone.steps, put);
    });
    // Even after an exception, the rest of the buffer fits exactly between `to` and `middle`.
    moveBack(rest, to, alone, thrown);
    thrown.rethrow();
  }

  // Moves [first, last) into the buffer; back again, if that throws.
  static void moveOut(Iterator first, Iterator last, Alone& alone) {
    Buffer& buffer = alone.buffer;
    buffer.clear();
    buffer.reserve(static_cast<size_t>(last - first));
    EscapedException thrown;
    thrown.capture([&] {
      alone.steps.inPieces(first, last, [&](Iterator from, Iterator to) {
        if constexpr (kMovesNeverThrow) {
          buffer.insert(buffer.end(), std::make_move_iterator(from), std::make_move_iterator(to));
        } else {
          std::move(from, to, std::back_inserter(buffer));  // keeps those that have been moved
        }
      });
    });
    if (thrown) [[unlikely]] {
      moveBack(buffer.begin(), first, alone, thrown);
      thrown.rethrow();
    }
  }

  // Moves the buffer back from `from` on, even if a move throws or a stop is requested. `thrown` keeps the
  // first exception.
  static void moveBack(typename Buffer::iterator from, Iterator to, Alone& alone, EscapedException& thrown) {
    alone.steps.template inPieces<false>(from, alone.buffer.end(), [&](auto begin, auto end) {
      if constexpr (kMovesNeverThrow) {
        to = std::move(begin, end, to);
      } else {
        for (; begin != end; ++begin, (void)++to) {
          EscapedException failure;
          failure.capture([&] { *to = std::move(*begin); });
          if (failure && !thrown) [[unlikely]] {
            thrown = std::move(failure);
          }
        }
      }
    });
  }

  Less& less_;
  Difference mergedAlone_ = 0;
  [[no_unique_address]] Stop stop_;
};

}  // namespace weft::inline v0_1::detail
