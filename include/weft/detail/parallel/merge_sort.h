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
#include "weft/join.h"

namespace weft::detail {

// Merge sort whose halves are forked. To merge two sorted halves, both are cut: the longer one at its middle,
// and the other where that element belongs. The parts between the cuts are exchanged. That leaves two
// independent merges (Kim and Kutzner, "Stable Minimum Storage Merging by Symmetric Comparisons", ESA 2004).
// Short merges go through a buffer. If the comparator throws, no element is lost. If a move throws, no other
// elements are lost than those that are being moved or exchanged.
template <class Iterator, class Less>
class MergeSort {
 public:
  explicit MergeSort(Less& less) : less_(less) {}

  void sort(Iterator first, Iterator last) {
    const Difference count = last - first;
    const auto forEachThread = static_cast<Difference>(grainForEachThread(static_cast<size_t>(count)));
    if (forEachThread >= count) {
      Buffer buffer;
      sortAlone(first, last, buffer);
      return;
    }
    mergedAlone_ = std::max(forEachThread / 4, kSortedAlone);
    sortPart(first, last);
  }

 private:
  using Difference = std::iter_difference_t<Iterator>;
  using Value = std::iter_value_t<Iterator>;
  using Buffer = std::vector<Value>;

  static constexpr bool kMovesNeverThrow =
      std::is_nothrow_move_constructible_v<Value> && std::is_nothrow_move_assignable_v<Value>;
  static constexpr Difference kFewElements = 16;
  static constexpr Difference kSortedAlone = 4096;

  void sortPart(Iterator first, Iterator last) {
    if (last - first <= kSortedAlone) {
      Buffer buffer;
      sortAlone(first, last, buffer);
      return;
    }
    const Iterator middle = first + (last - first) / 2;
    weft::join([&] { sortPart(first, middle); }, [&] { sortPart(middle, last); });
    merge(first, middle, last);
  }

  void merge(Iterator first, Iterator middle, Iterator last) {
    if (last - first <= mergedAlone_) {
      Buffer buffer;
      mergeAlone(first, middle, last, buffer);
      return;
    }
    if (first == middle || middle == last || !less_(*middle, *(middle - 1))) {
      return;
    }
    Iterator left = first, right = middle;
    if (middle - first >= last - middle) {
      left += (middle - first) / 2;
      right = std::lower_bound(middle, last, *left, std::ref(less_));
    } else {
      right += (last - middle) / 2;
      left = std::upper_bound(first, middle, *right, std::ref(less_));
    }
    const Iterator cut = std::rotate(left, middle, right);
    weft::join([&] { merge(first, left, cut); }, [&] { merge(cut, right, last); });
  }

  void sortAlone(Iterator first, Iterator last, Buffer& buffer) {
    if (last - first > kFewElements) {
      const Iterator middle = first + (last - first) / 2;
      sortAlone(first, middle, buffer);
      sortAlone(middle, last, buffer);
      mergeAlone(first, middle, last, buffer);
      return;
    }
    for (Iterator it = first; it != last; ++it) {
      std::rotate(std::upper_bound(first, it, *it, std::ref(less_)), it, it + 1);
    }
  }

  void mergeAlone(Iterator first, Iterator middle, Iterator last, Buffer& buffer) {
    if (first == middle || middle == last || !less_(*middle, *(middle - 1))) {
      return;
    }
    moveOut(first, middle, buffer);
    auto rest = buffer.begin();
    Iterator to = first;
    EscapedException thrown;
    thrown.capture([&] {
      for (; rest != buffer.end() && middle != last; ++to) {
        if (less_(*middle, *rest)) {
          *to = std::move(*middle);
          ++middle;
        } else {
          *to = std::move(*rest);
          ++rest;
        }
      }
    });
    // However the loop ended, the rest of the buffer fits exactly between `to` and `middle`.
    moveBack(rest, buffer.end(), to, thrown);
    thrown.rethrow();
  }

  // Moves [first, last) into the buffer. If that throws, the elements that were moved are moved back.
  static void moveOut(Iterator first, Iterator last, Buffer& buffer) {
    if constexpr (kMovesNeverThrow) {
      buffer.assign(std::make_move_iterator(first), std::make_move_iterator(last));
    } else {
      buffer.clear();
      buffer.reserve(static_cast<size_t>(last - first));
      EscapedException thrown;
      thrown.capture([&] { std::move(first, last, std::back_inserter(buffer)); });
      if (thrown) [[unlikely]] {
        moveBack(buffer.begin(), buffer.end(), first, thrown);
        thrown.rethrow();
      }
    }
  }

  // Moves elements out of the buffer, all of them, also if the move of one throws. `thrown` keeps the first
  // exception.
  template <class From>
  static void moveBack(From from, From last, Iterator to, EscapedException& thrown) {
    if constexpr (kMovesNeverThrow) {
      std::move(from, last, to);
    } else {
      for (; from != last; ++from, (void)++to) {
        EscapedException failure;
        failure.capture([&] { *to = std::move(*from); });
        if (failure && !thrown) [[unlikely]] {
          thrown = std::move(failure);
        }
      }
    }
  }

  Less& less_;
  Difference mergedAlone_ = 0;
};

}  // namespace weft::detail
