// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/parallel/element_function.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/split_loop.h"
#include "weft/detail/parallel/transform.h"
#include "weft/parallel/partition.h"

namespace weft::inline v0_1::detail {

// Which element is looked for, if the predicate is true of several.
enum class Match { First, Any };

// A search for an element of which the predicate is true. The elements are numbered from 1 on. What lies
// behind the number `last_` is not looked at any more. Each match lowers it: to its own number, or to 0 where
// any will do. So all elements before the first match are looked at.
template <class Iterator, class Predicate>
class FindBody {
 public:
  using Result = std::optional<Iterator>;
  using Cursor = Together<Index<size_t>, Iterator>;

  FindBody(Predicate& predicate, Match which) : predicate_(predicate), which_(which) {}

  Cursor run(Cursor from, size_t count, Result& result) {
    auto& [at] = from.in;
    size_t& number = from.out.value;
    while (count != 0 && !isOver(from)) {
      // With a constant length the compiler unrolls the loop, which is then up to twice as fast.
      const size_t block = std::min(count, kUnseen);
      const size_t before = block == kUnseen ? runUntilMatch(at, kUnseen) : runUntilMatch(at, block);
      number += before;
      if (before != block) {
        result.emplace(at);
        endBehind(number);
        ++from;
        return from;
      }
      count -= block;
    }
    return from;
  }
  void append(Result& left, Result&& right) {
    if (!left && right) {
      left.emplace(std::move(*right));
    }
  }
  // relaxed, here and below: it only saves work. The match itself is in the result of its part.
  bool isOver(const Cursor& from) const { return from.out.value > last_.load(std::memory_order_relaxed); }

 private:
  // How many elements are looked at between two looks at what other threads have found.
  static constexpr size_t kUnseen = 16;

  // Goes to the first match, or by `count` elements. Returns: how many elements have no match.
  [[gnu::always_inline]] size_t runUntilMatch(Iterator& at, size_t count) {
    for (size_t i = 0; i != count; ++i, (void)++at) {
      if (predicate_(*at)) {
        return i;
      }
    }
    return count;
  }

  void endBehind(size_t number) {
    const size_t end = which_ == Match::Any ? 0 : number;
    size_t last = last_.load(std::memory_order_relaxed);
    while (end < last && !last_.compare_exchange_weak(last, end, std::memory_order_relaxed)) {
    }
  }

  Predicate& predicate_;
  const Match which_;
  std::atomic<size_t> last_{std::numeric_limits<size_t>::max()};  // only falls, by any thread that finds one
};

// Runs `loop` over stretches until one has a result. Each but the first is as long as all before it. So a
// match near the beginning of a long range costs little: other threads help where it is, and not far behind.
template <class Loop, class Cursor, class Result>
void inGrowingStretches(Loop& loop, Cursor from, size_t count, size_t grain, const std::stop_token& token,
                        Result& found) {
  constexpr size_t kFirst = 256;
  size_t length = std::max(kFirst, grain);
  for (size_t searched = 0;; length = searched) {
    const size_t part = std::min(length, count);
    loop.lazily(from, part, grain, found);
    searched += part;
    count -= part;
    if (found || count == 0 || token.stop_requested()) {
      return;
    }
    detail::skip(from, part);
  }
}

// Returns: the first element of which the predicate is true, or any such one; empty if there is none.
template <class Iterator, class Predicate>
std::optional<Iterator> findIn(const Partition<Iterator>& range, Predicate& predicate,
                               const std::stop_token& token, Match which, const char* what) {
  std::optional<Iterator> found;
  if constexpr (detail::assertPredicate<Predicate, const Iterator>()) {
    detail::assertCallable(predicate, what);
    using Body = FindBody<Iterator, Predicate>;
    Body body(predicate, which);
    const typename Body::Cursor first{{1}, {range.first}};
    LoopOver<Body, typename Body::Cursor> loop(body, token, what);
    if (range.isStatic) {
      loop.evenly(first, range.count, range.grain, detail::grainForEachThread(range.count), true, found);
    } else if (which == Match::Any) {
      loop.lazily(first, range.count, range.grain, found);
    } else {
      detail::inGrowingStretches(loop, first, range.count, range.grain, token, found);
    }
  }
  return found;
}

template <class Iterator, class Predicate>
bool hasAny(const Partition<Iterator>& range, Predicate& predicate, const std::stop_token& token,
            const char* what) {
  return detail::findIn(range, predicate, token, Match::Any, what).has_value();
}

// For parallelAllOf(): whether there is an element of which the predicate is false.
template <class Iterator, class Predicate>
bool hasAnyOther(const Partition<Iterator>& range, Predicate& predicate, const std::stop_token& token,
                 const char* what) {
  if constexpr (detail::assertPredicate<Predicate, const Iterator>()) {
    detail::assertCallable(predicate, what);
    const auto isOther = [&predicate](auto&& element) {
      return !static_cast<bool>(predicate(std::forward<decltype(element)>(element)));
    };
    return detail::hasAny(range, isOther, token, what);
  }
  return false;
}

}  // namespace weft::inline v0_1::detail
