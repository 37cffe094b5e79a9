// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <stop_token>

#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/parallel/element_function.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/split_loop.h"
#include "weft/parallel/partition.h"

namespace weft::inline v0_1::detail {

struct Nothing {};

template <class F>
struct ForBody {
  using Result = Nothing;

  template <class Cursor>
  Cursor run(Cursor from, size_t count, Nothing&) {
    for (; count != 0; --count, (void)++from) {
      function(*from);
    }
    return from;
  }
  void append(Nothing&, Nothing&&) {}

  F& function;
};

// Returns: the grain that gives each thread that may take part one piece.
inline size_t grainForEachThread(size_t count) {
  const LocalDeque* local = count != 0 ? ownLocalDeque() : nullptr;
  const size_t numThreads = local != nullptr ? local->numOthers + size_t{1} : 1;
  return std::max<size_t>((count + numThreads - 1) / numThreads, 1);
}

template <class Iterator, class F>
void forEachOf(const Partition<Iterator>& range, F& function, const std::stop_token& token,
               const char* what) {
  if constexpr (detail::assertElementFunction<F, Iterator>()) {
    detail::assertCallable(function, what);
    ForBody<F> body{function};
    Nothing nothing;
    LoopOver<ForBody<F>, Iterator> loop(body, token, what);
    if (range.isStatic) {
      loop.evenly(range.first, range.count, range.grain, detail::grainForEachThread(range.count), true,
                  nothing);
    } else {
      loop.lazily(range.first, range.count, range.grain, nothing);
    }
  }
}

}  // namespace weft::inline v0_1::detail
