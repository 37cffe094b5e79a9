// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include "weft/detail/base/callable.h"
#include "weft/detail/parallel/element_function.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/split_loop.h"
#include "weft/detail/parallel/transform.h"
#include "weft/parallel/for.h"
#include "weft/parallel/partition.h"
#include "weft/parallel/transform.h"

namespace weft::inline v0_1::detail {

// Copies the elements of which the predicate is true. The result is where the next copy goes.
template <class Out, class Predicate>
struct CopyIfBody {
  using Result = std::optional<Out>;

  template <class Iterator>
  Iterator run(Iterator at, size_t count, Result& result) {
    Out to = *result;
    for (; count != 0; --count, (void)++at) {
      if (predicate(*std::as_const(at))) {
        *to = *std::as_const(at);
        ++to;
      }
    }
    *result = to;
    return at;
  }
  void append(Result&, Result&&) {}

  Predicate& predicate;
};

// Eight flags, one in each byte.
using FlagWord = uint64_t;

inline FlagWord flagsAt(const bool* flags) {
  FlagWord word;
  std::memcpy(&word, flags, sizeof word);
  return word;
}

// Copies the elements whose flags are set. The result is where the next copy goes.
template <class Out>
struct CopyFlaggedBody {
  using Result = std::optional<Out>;

  template <class Iterator>
  using Place = Together<const bool*, Iterator>;

  template <class Iterator>
  Place<Iterator> run(Place<Iterator> at, size_t count, Result& result) {
    Out to = *result;
    const Iterator& in = std::get<0>(at.in);
    if constexpr (kIsSteppable<Iterator> && requires { in[1]; } &&
                  std::endian::native == std::endian::little) {
      // No branch depends on a single flag: where those have no pattern, this takes a third of the time.
      for (; count >= sizeof(FlagWord); count -= sizeof(FlagWord), (void)(at += sizeof(FlagWord))) {
        for (FlagWord left = detail::flagsAt(at.out); left != 0; left &= left - 1) {
          *to = in[std::countr_zero(left) / 8];
          ++to;
        }
      }
    }
    for (; count != 0; --count, (void)++at) {
      if (*at.out) {
        *to = *in;
        ++to;
      }
    }
    *result = to;
    return at;
  }
  void append(Result&, Result&&) {}
};

// On this thread, in pieces, as a loop without a grain. Returns: the end of what was written.
template <class Body, class Cursor, class Out>
Out copyAlone(Body body, const Cursor& from, size_t count, const Out& out) {
  const std::stop_token never;
  std::optional<Out> to = out;
  LoopOver<Body, Cursor>(body, never, "parallelCopyIf").alone(from, count, to);
  return *to;
}

// Elements that one thread copies. To copy numbers takes some ten microseconds, and so is worth a fork. To
// count their flags takes less than a microsecond, after which others may have their turn.
template <class Iterator, class Out>
struct CopyStretch {
  static constexpr size_t kLength = 16'384;

  void countWanted() {
    const bool* flags = from.out;
    size_t left = count;
    for (; left >= sizeof(FlagWord); left -= sizeof(FlagWord), flags += sizeof(FlagWord)) {
      const FlagWord sums = detail::flagsAt(flags) * 0x01'01'01'01'01'01'01'01;
      numWanted += sums >> 56;  // the sum of all bytes
    }
    numWanted += static_cast<size_t>(std::count(flags, flags + left, true));
  }
  void copy() {
    if (numWanted != 0) {
      detail::copyAlone(CopyFlaggedBody<Out>(), from, count, *out);
    }
  }

  typename CopyFlaggedBody<Out>::template Place<Iterator> from;
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
  auto from = decltype(Stretch::from){flags.get(), {range.first}};
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
      return detail::copyAlone(CopyIfBody<Out, Predicate>{predicate}, range.first, range.count, out);
    }
  }
  return out;
}

}  // namespace weft::inline v0_1::detail
