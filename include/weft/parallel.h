// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/pipeline.h"
#include "weft/detail/parallel/reduce.h"
#include "weft/detail/parallel/scan.h"
#include "weft/detail/parallel/sort.h"
#include "weft/detail/parallel/transform.h"
#include "weft/join.h"

// Parallel algorithms. They are split while they run, by the mechanism of join(): a part that no other thread
// takes is a plain call. What join.h says about its functions holds here too. See docs/parallel.md.
//
// Each algorithm is described where it is declared, in weft/detail/parallel:
// - for.h: parallelFor(range, f[, token])
// - reduce.h: parallelReduce(range, init[, reduce]), parallelMapReduce(range, init, map[, reduce])
// - transform.h: parallelTransform(range, out, f)
// - scan.h: parallelScan(range, out[, op]), parallelExclusiveScan(range, out, init[, op])
// - sort.h: parallelSort(range[, less]), parallelStableSort(range[, less])
// - pipeline.h: parallelPipeline(maxTokens, stages...)
// - partition.h: autoPartitioner(range[, grain]), staticPartitioner(range[, grain]), in place of a range A
// range may also be two iterators, or two integers. All take an executor before their other arguments.
namespace weft::inline v0_1 {

// join() for functions whose results are not needed.
//
//   weft::parallelInvoke([&] { index(left); }, [&] { index(right); });
template <class F, class... Others>
void parallelInvoke(F&& first, Others&&... others) {
  constexpr bool kCanBeCalled = (std::is_invocable_v<F> && ... && std::is_invocable_v<Others>);
  static_assert(kCanBeCalled,
                "parallelInvoke(f, g, ...): one of the functions cannot be called without arguments, "
                "or it is meant as an executor and has no member function schedule(weft::TaskHandle).");
  if constexpr (kCanBeCalled) {
    detail::assertCallable(first, "parallelInvoke()");
    (detail::assertCallable(others, "parallelInvoke()"), ...);
    weft::join([&]() -> void { std::forward<F>(first)(); },
               [&]() -> void { std::forward<Others>(others)(); }...);
  }
}
inline void parallelInvoke() {}

// Invokes as a task of `executor`, like join(executor, ...).
template <Executor E, class... Functions>
void parallelInvoke(E&& executor, Functions&&... functions) {
  detail::runOn(executor, [&] { weft::parallelInvoke(std::forward<Functions>(functions)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
