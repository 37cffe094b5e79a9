// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include "weft/detail/base/callable.h"
#include "weft/detail/parallel/find.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/split_loop.h"
#include "weft/detail/parallel/transform.h"
#include "weft/parallel/for.h"
#include "weft/parallel/partition.h"
#include "weft/parallel/transform.h"

namespace weft::inline v0_1::detail {

// Copies the elements that isWanted(place) chooses. A place is a Together, whose `out` is where the element
// is. The result is where the next copy goes.
template <class Out, class IsWanted>
struct CopyIfBody {
  using Result = std::optional<Out>;

  template <class Place>
  Place run(Place at, size_t count, Result& result) {
    Out to = *result;
    for (; count != 0; --count, (void)++at) {
      if (isWanted(std::as_const(at))) {
        *to = *at.out;
        ++to;
      }
    }
    *result = to;
    return at;
  }
  void append(Result&, Result&&) {}

  const IsWanted& isWanted;
};

// On this thread, in pieces, as a loop without a grain. Returns: the end of what was written.
template <class Place, class Out, class IsWanted>
Out copyAlone(const Place& from, size_t count, const Out& out, const IsWanted& isWanted) {
  using Body = CopyIfBody<Out, IsWanted>;
  Body body{isWanted};
  const std::stop_token never;
  std::optional<Out> to = out;
  LoopOver<Body, Place>(body, never, "parallelCopyIf").alone(from, count, to);
  return *to;
}

// Elements that one thread copies. To copy numbers takes some ten microseconds, and so is worth a fork. To
// count their flags takes some microseconds, after which others may have their turn.
template <class Iterator, class Out>
struct CopyStretch {
  static constexpr size_t kLength = 16'384;
  using Place = Together<Iterator, const bool*>;

  void countWanted() {
    const bool* flags = std::get<0>(from.in);
    numWanted = static_cast<size_t>(std::count(flags, flags + count, true));
  }
  void copy() {
    if (numWanted != 0) {
      detail::copyAlone(from, count, *out, [](const Place& at) { return *std::get<0>(at.in); });
    }
  }

  Place from;
  size_t count;
  size_t numWanted = 0;
  std::optional<Out> out = {};  // where the copies go, once that is known
};

// In three steps, each of which is shared as far as that is worth it: a flag for each element, how many are
// wanted in each stretch, and the copies. Allocates before it calls anything.
template <class Iterator, class Out, class Predicate>
Out copyShared(const Partition<Iterator>& range, Out out, Predicate& predicate) {
  using Stretch = CopyStretch<Iterator, Out>;
  const std::unique_ptr<bool[]> flags(new bool[range.count]);
  std::vector<Stretch> stretches;
  stretches.reserve((range.count - 1) / Stretch::kLength + 1);
  typename Stretch::Place from{range.first, {flags.get()}};
  for (size_t left = range.count; left != 0; left -= stretches.back().count) {
    stretches.push_back({from, std::min(left, Stretch::kLength)});
    detail::skip(from, stretches.back().count);
  }
  weft::parallelTransform(range, flags.get(), [&predicate](auto&& element) -> bool {
    return predicate(std::forward<decltype(element)>(element));
  });
  weft::parallelFor(stretches, [](Stretch& stretch) { stretch.countWanted(); });
  for (Stretch& stretch : stretches) {
    stretch.out = out;
    detail::skip(out, stretch.numWanted);
  }
  weft::parallelFor(stretches, [](Stretch& stretch) { stretch.copy(); });
  return out;
}

template <class Iterator, class Out, class Predicate>
Out copyIn(const Partition<Iterator>& range, Out out, Predicate& predicate) {
  if constexpr (detail::assertPredicate<Predicate, const Iterator>()) {
    if constexpr (detail::assertOutput<Out, decltype(*std::declval<const Iterator&>())>()) {
      detail::assertCallable(predicate, "parallelCopyIf");
      if (detail::grainForEachThread(range.count) < range.count) {
        return detail::copyShared(range, out, predicate);
      }
      if (range.count != 0) {
        using Place = Together<Iterator>;
        return detail::copyAlone(Place{range.first, {}}, range.count, out,
                                 [&predicate](const Place& at) -> bool { return predicate(*at.out); });
      }
    }
  }
  return out;
}

}  // namespace weft::inline v0_1::detail
