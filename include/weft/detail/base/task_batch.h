// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/base/ticks.h"
#include "weft/export.h"
#include "weft/task.h"

// How the tasks of a range come to a scheduler. Each batch, not each task, pays for the look for sleeping
// workers with its fence, the claim of slots in the injector, the store that publishes the tasks in a deque,
// and the users' count.
//
// A task waits in its batch while the program makes the next tasks, which may be slow. So the first batch is
// one task, and batches grow only while tasks come fast. In a single-pass range, such as a channel or a
// generator, the next element may come late, or may wait for an earlier task: then each batch is one task.
//
// Rejected: the concepts of <ranges>. Each file that includes scheduler.h would compile for 0.15 s longer.
namespace weft::inline v0_1 {

class Scheduler;

namespace detail {

class TaskBatch {
 public:
  static constexpr uint32_t kMost = 64;              // tasks
  static constexpr uint64_t kMostMicroseconds = 20;  // after a slower batch, the next is one task

  TaskBatch(Scheduler& scheduler, uint32_t most) : scheduler_(scheduler), most_(most) {}
  // Queues what was added, also after an exception.
  ~TaskBatch() {
    if (count_ != 0) {
      queue();
    }
  }
  TaskBatch(const TaskBatch&) = delete;

  void add(TaskNode* node) {
    nodes_[count_++] = node;
    if (count_ == wanted_) [[unlikely]] {
      queue();
    }
  }

 private:
  WEFT_EXPORT void queue() noexcept;

  Scheduler& scheduler_;
  const uint32_t most_;
  uint32_t wanted_ = 1;
  uint32_t count_ = 0;
  uint64_t queuedAt_ = ticks();
  TaskNode* nodes_[kMost];
};

// An array, or a type with the members begin() and end(). (Free functions might mean something else.)
template <class Range>
concept InputRange = requires(Range& range) {
  { std::begin(range) } -> std::input_iterator;
  { std::end(range) } -> std::sentinel_for<decltype(std::begin(range))>;
};

template <class Range>
using RangeIterator = decltype(std::begin(std::declval<Range&>()));

// Whether a range that is given as `Range` owns its elements and may be emptied: it is an rvalue, and its
// elements are const if it is const. (An rvalue view, such as std::span, does not own its elements.)
template <class Range>
inline constexpr bool kMayMoveElements = false;
template <class Range>
  requires(!std::is_lvalue_reference_v<Range> && InputRange<const Range>)
inline constexpr bool kMayMoveElements<Range> =
    std::is_const_v<std::remove_reference_t<std::iter_reference_t<RangeIterator<const Range>>>>;

template <class Range>
decltype(auto) elementAt(RangeIterator<Range>& at) {
  if constexpr (kMayMoveElements<Range>) {
    return std::ranges::iter_move(at);
  } else {
    return *at;
  }
}

// Returns: the node of the task that `element` is or makes; null if `element` is empty.
template <class Element>
TaskNode* nodeOf(Element&& element) {
  using Kept = std::remove_cvref_t<Element>;
  if constexpr (std::derived_from<Kept, Task>) {
    constexpr bool kCanBeTaken = std::is_constructible_v<Kept, Element>;
    static_assert(kCanBeTaken,
                  "a Task cannot be copied from the range. Pass std::move() of the container that owns the "
                  "tasks, or a range of std::move_iterator.");
    if constexpr (kCanBeTaken) {
      Kept task(std::forward<Element>(element));
      return static_cast<Task&&>(task).release();
    }
  } else {
    constexpr bool kCanBeCalled = kCanBeBound<Element>;
    static_assert(kCanBeCalled,
                  "enqueueMany(range), scheduleMany(range): an element cannot be called without arguments.");
    static_assert(kCanBeKept<Element> || !kCanBeCalled,
                  "enqueueMany(range), scheduleMany(range): the elements are copied, and something here "
                  "cannot be copied. Pass std::move() of the container that owns them, or a range of "
                  "std::move_iterator.");
    if constexpr (kCanBeCalled && kCanBeKept<Element>) {
      return Task(std::forward<Element>(element)).release();
    }
  }
  return nullptr;
}

template <class Range>
void enqueueEach(Scheduler& scheduler, std::remove_reference_t<Range>& range, const char* where) {
  using Iterator = RangeIterator<Range>;
  TaskBatch batch(scheduler, std::forward_iterator<Iterator> ? TaskBatch::kMost : 1);
  Iterator at = std::begin(range);
  const auto end = std::end(range);
  for (; at != end; ++at) {
    TaskNode* node = detail::nodeOf(detail::elementAt<Range>(at));
    if (node == nullptr) [[unlikely]] {
      detail::reportEmptyFunction(where);
    }
    batch.add(node);
  }
}

}  // namespace detail
}  // namespace weft::inline v0_1
