// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/run_on.h"
#include "weft/executor.h"
#include "weft/join.h"
#include "weft/parallel/any_of.h"
#include "weft/parallel/blocks2d.h"
#include "weft/parallel/copy_if.h"
#include "weft/parallel/count.h"
#include "weft/parallel/find.h"
#include "weft/parallel/for.h"
#include "weft/parallel/irange.h"
#include "weft/parallel/merge.h"
#include "weft/parallel/min_element.h"
#include "weft/parallel/partition.h"
#include "weft/parallel/partitioner.h"
#include "weft/parallel/pipeline.h"
#include "weft/parallel/reduce.h"
#include "weft/parallel/scan.h"
#include "weft/parallel/sort.h"
#include "weft/parallel/stage.h"
#include "weft/parallel/transform.h"

// Parallel algorithms. They split their work while they run, as join() does: a part that no other thread
// takes is a plain call. So what join() asks of its functions holds for the functions here.
// See docs/parallel.md.
//
// The headers of weft/parallel declare them:
// - for.h: parallelFor(range, f[, token])
// - reduce.h: parallelReduce(range, init[, reduce[, token]])
// - reduce.h: parallelMapReduce(range, init, map[, reduce[, token]])
// - transform.h: parallelTransform(range, out, f[, token])
// - scan.h: parallelScan(range, out[, op[, token]]), parallelExclusiveScan(range, out, init[, op[, token]])
// - sort.h: parallelSort(range[, less[, token]]), parallelStableSort(range[, less[, token]])
// - find.h: parallelFind(range, predicate[, token])
// - any_of.h: parallelAnyOf(range, predicate[, token]), parallelAllOf(...), parallelNoneOf(...)
// - count.h: parallelCountIf(range, predicate)
// - copy_if.h: parallelCopyIf(range, out, predicate)
// - min_element.h: parallelMinElement(range[, less]), parallelMaxElement(range[, less])
// - merge.h: parallelMerge(first, second, out[, less])
// - pipeline.h: parallelPipeline(maxTokens, stages...[, token]), with the stages of stage.h
//
// A range may also be two iterators, two integers, irange(begin, end[, step]) of irange.h, blocks2D() of
// blocks2d.h, or what partitioner.h makes of a range: autoPartitioner(range[, grain]),
// staticPartitioner(range[, grain]). All algorithms may take an executor before their other arguments.
namespace weft::inline v0_1 {

// Calls functions as join() does, and drops what they return.
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

// Calls the functions in a task of `executor`, as join(executor, ...) does, and drops what they return.
template <Executor E, class... Functions>
void parallelInvoke(E&& executor, Functions&&... functions) {
  detail::runOn(executor, [&] { weft::parallelInvoke(std::forward<Functions>(functions)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
