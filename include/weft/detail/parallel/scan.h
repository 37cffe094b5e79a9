// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/cancellation.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/reduce.h"
#include "weft/detail/parallel/split_loop.h"
#include "weft/detail/parallel/transform.h"
#include "weft/parallel/for.h"
#include "weft/parallel/irange.h"
#include "weft/parallel/partition.h"
#include "weft/parallel/partitioner.h"

namespace weft::inline v0_1::detail {

// Writes prefixes. The result is the total before the next element, or empty if nothing is.
template <class T, class Op, bool kIsInclusive>
struct ScanBody {
  using Result = std::optional<T>;

  // Requires: `before` is not empty if the scan is exclusive.
  template <class Places>
  Places run(Places at, size_t count, Result& before) {
    auto& [in] = at.in;
    if (!before) {
      before.emplace(*in);
      *at.out = *before;
      ++at;
      --count;
    }
    T total = std::move(*before);
    for (; count != 0; --count, (void)++at) {
      if constexpr (kIsInclusive) {
        total = op(std::move(total), *in);
        *at.out = total;
      } else {
        T next = afterwards(total, *in);  // before the output is written, which may be where the input is
        *at.out = std::exchange(total, std::move(next));
      }
    }
    *before = std::move(total);
    return at;
  }
  void append(Result&, Result&&) {}

  // `total` is still needed.
  template <class Mapped>
  T afterwards(T& total, Mapped&& element) {
    if constexpr (std::is_invocable_v<Op&, T&, Mapped>) {
      return op(total, std::forward<Mapped>(element));
    } else {
      return op(T(total), std::forward<Mapped>(element));
    }
  }

  Op& op;
};

// A stretch of a scan, which one thread runs in pieces, like a loop without a grain. A scan takes three
// steps, after Blelloch, "Prefix Sums and Their Applications" (1990): the totals of all stretches but the
// last, what comes before each stretch, and the prefixes within each.
template <class Cursor, class Out, class T>
struct ScanStretch {
  template <class Op>
  void sum(Op& op, const std::stop_token& token) {
    runAlone(ReduceBody<T, const Identity, Op>{kIdentity, op}, in, token);
  }

  // Requires: `value` is the total before the stretch, or empty if nothing is.
  template <class Op>
  void scan(Op& op, bool isInclusive, const std::stop_token& token) {
    const Together<Out, Cursor> places{out, {in}};
    isInclusive ? runAlone(ScanBody<T, Op, true>{op}, places, token)
                : runAlone(ScanBody<T, Op, false>{op}, places, token);
  }

  Cursor in;
  Out out;
  size_t count;
  std::optional<T> value;

 private:
  template <class Body, class From>
  void runAlone(Body body, From from, const std::stop_token& token) {
    LoopOver<Body, From>(body, token, "parallelScan").alone(from, count, value);
  }
};

// Shorter stretches are not worth going over the elements twice.
inline constexpr size_t kShortestStretch = 4096;

template <class Cursor>
size_t stretchOf(const Partition<Cursor>& range) {
  const LocalDeque* local = ownLocalDeque();
  if (local == nullptr || local->numOthers == 0) {
    return range.count;
  }
  return range.grain != 0 ? range.grain
                          : std::max(kShortestStretch, detail::grainForEachThread(range.count) / 4 + 1);
}

template <class Cursor, class Out, class T, class Op>
Out scanFrom(const Partition<Cursor>& range, Out out, Op& op, std::optional<T> init, bool isInclusive,
             const std::stop_token& token) {
  using Stretch = ScanStretch<Cursor, Out, T>;
  if (range.count == 0) {
    weft::interruptionPoint(token);
    return out;
  }
  const size_t length = detail::stretchOf(range);
  std::vector<Stretch> stretches;
  stretches.reserve((range.count - 1) / length + 1);
  Cursor in = range.first;
  for (size_t left = range.count; left != 0;) {
    const size_t count = std::min(left, length);
    stretches.push_back({in, out, count, std::nullopt});
    detail::skip(in, count);
    detail::skip(out, count);
    left -= count;
  }
  const auto forEach = [&stretches, &token](size_t count, auto&& function) {
    weft::parallelFor(
        autoPartitioner(irange(size_t{0}, count), 1), [&](size_t i) { function(stretches[i]); }, token);
    weft::interruptionPoint(token);  // a stretch may have been left out
  };
  forEach(stretches.size() - 1, [&](Stretch& stretch) { stretch.sum(op, token); });
  std::optional<T> before = std::move(init);
  for (Stretch& stretch : stretches) {
    std::optional<T> total = std::exchange(stretch.value, before);
    if (&stretch != &stretches.back()) {
      before = before ? static_cast<T>(op(std::move(*before), std::move(*total))) : std::move(*total);
      detail::letOthersRunInTurn();
      weft::interruptionPoint(token);
    }
  }
  forEach(stretches.size(), [&](Stretch& stretch) { stretch.scan(op, isInclusive, token); });
  return out;
}

template <class T>
constexpr bool assertCopied() {
  constexpr bool kIsCopied = std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T>;
  static_assert(kIsCopied,
                "a scan copies values of the type of `init`, or without it of the elements: "
                "this type cannot be copied. Use a type whose copies can be made and assigned.");
  return kIsCopied;
}

template <class T, class Cursor, class Out, class Op>
Out scanOf(const Partition<Cursor>& range, Out out, Op& op, std::optional<T> init, bool isInclusive,
           const std::stop_token& token) {
  // Not joined by &&: the compiler then reports the first error only.
  if constexpr (kIsRefused<Cursor>) {
    return out;
  } else if constexpr (!detail::assertReducible<T, decltype(*std::declval<Cursor&>()), Op>()) {
    return out;
  } else if constexpr (!detail::assertAssignable<T>()) {
    return out;
  } else if constexpr (!detail::assertCopied<T>()) {
    return out;
  } else if constexpr (!detail::assertOutput<Out, const T&>()) {
    return out;
  } else {
    detail::assertCallable(op, isInclusive ? "parallelScan" : "parallelExclusiveScan");
    return detail::scanFrom(range, out, op, std::move(init), isInclusive, token);
  }
}

}  // namespace weft::inline v0_1::detail
