// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/owner.h"
#include "weft/detail/base/thread_table.h"
#include "weft/detail/base/throw_or_die.h"

namespace weft::inline v0_1 {

// A value for each thread that uses it, such as a worker, so that no two threads write to one value. Once
// all are done, combine() makes one result of the values.
//
//   weft::WorkerLocal<std::array<int, 256>> counts;
//   weft::parallelFor(bytes, [&](unsigned char byte) { ++counts.local()[byte]; });
//   const auto add = [](std::array<int, 256> sum, const std::array<int, 256>& part) {
//     std::transform(sum.begin(), sum.end(), part.begin(), sum.begin(), std::plus());
//     return sum;
//   };
//   const std::array<int, 256> histogram = counts.combine({}, add);
// The value is made when a thread first uses it, by the factory or by T's default constructor. It has cache
// lines of its own. All tasks of a thread share it: use no reference to it across a wait, unless what the
// others write meanwhile does no harm. A value outlives its thread, and a thread that begins later may take
// it over. So there are at most as many values as threads that lived at one time.
// Lifetime: the values are destroyed with the WorkerLocal, by the thread that destroys it.
template <class T>
class WorkerLocal {
 public:
  // Makes a WorkerLocal whose values are made by T's default constructor.
  WorkerLocal()
    requires std::default_initializable<T>
      : factory_([] { return T(); }) {}
  template <class U = T>
  WorkerLocal() {
    static_assert(detail::kAlwaysFalse<U>,
                  "weft::WorkerLocal<T>: T has no default constructor, so say how the value is made. Write "
                  "weft::WorkerLocal<T> values([] { return T(...); }).");
  }
  // Makes a WorkerLocal whose values are made by `factory`, which several threads may call at a time. It may
  // wait: where another task of the thread makes the value meanwhile, that value stays.
  explicit WorkerLocal(std::function<T()> factory) : factory_(std::move(factory)) {
    detail::assertCallable(factory_, "WorkerLocal()");
  }
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, WorkerLocal> &&
             !(std::copy_constructible<std::decay_t<F>> && std::convertible_to<F, std::function<T()>>))
  explicit WorkerLocal(F&&) {
    static_assert(detail::kAlwaysFalse<F>,
                  "weft::WorkerLocal<T>(f): f can be copied, is called without arguments, and returns a T. "
                  "Write weft::WorkerLocal<T> values([] { return T(...); }).");
  }
  WorkerLocal(const WorkerLocal&) = delete;
  WorkerLocal& operator=(const WorkerLocal&) = delete;
  ~WorkerLocal() {
    values_.forEach([](void* value) { destroy(static_cast<Node*>(value)); });
  }

  // Returns: the value of the calling thread. Neither suspends nor blocks, unless the factory does.
  // Requires: the caller is not the factory of this value; otherwise a message ends the program.
  // Errors: throws what the factory throws, which leaves no value, or std::bad_alloc.
  // Lifetime: the value lives as long as the WorkerLocal. The reference is for the calling thread.
  T& local() {
    void* const value = values_.ownValue();
    return value != nullptr ? static_cast<Node*>(value)->value : make();
  }

  // Calls f(value) for each value, in no particular order. The values stay. Neither suspends nor blocks,
  // unless f does.
  // Requires: nobody uses the WorkerLocal meanwhile, and who did has been waited for.
  // Errors: throws what f throws; the values that are left are not visited.
  template <class F>
  void forEach(F&& f) {
    static_assert(std::is_invocable_v<F&, T&>, "weft::WorkerLocal<T>::forEach(f): f is called with a T&.");
    if constexpr (std::is_invocable_v<F&, T&>) {
      values_.forEach([&](void* value) { f(static_cast<Node*>(value)->value); });
    }
  }

  // Returns: op(... op(op(init, value), value) ..., value) over all values, in no particular order; init if
  // there are none. The values stay. Neither suspends nor blocks, unless op does. For a result of another
  // type there is forEach().
  // Requires: nobody uses the WorkerLocal meanwhile, and who did has been waited for.
  // Errors: throws what op throws; the values are as they were.
  template <class Op>
  T combine(T init, Op&& op) const {
    constexpr bool kIsOperation = std::movable<T> && std::is_invocable_r_v<T, Op&, T, const T&>;
    static_assert(
        kIsOperation,
        "weft::WorkerLocal<T>::combine(init, op): op takes a T and a const T&, and returns a T, which "
        "can be moved. Write combine(T(), [](T sum, const T& value) { ...; return sum; }).");
    if constexpr (kIsOperation) {
      values_.forEach(
          [&](void* value) { init = op(std::move(init), std::as_const(static_cast<Node*>(value)->value)); });
    }
    return init;
  }

 private:
  struct alignas(alignof(T) > detail::kLine ? alignof(T) : detail::kLine) Node {
    Node() noexcept {}
    ~Node() {}
    union {
      T value;
    };
  };

  static void destroy(Node* node) noexcept {
    node->value.~T();
    detail::NodeMemory<Node>::destroy(*node);
  }

  [[gnu::noinline]] T& make() {
    detail::ThreadTable::Entry& entry = values_.ownEntry();
    const void* const caller = detail::currentOwner();
    WEFT_ASSERT(entry.maker != caller,
                "the factory of a WorkerLocal used the value that it is to make. Make it of other things.");
    auto* const node = detail::NodeMemory<Node>::make();
    entry.maker = caller;
    bool isMade = false;
    detail::callAndEnd(
        [&] {
          ::new (static_cast<void*>(std::addressof(node->value))) T(factory_());
          isMade = true;
        },
        [&] {
          entry.maker = nullptr;
          if (!isMade) {
            detail::NodeMemory<Node>::destroy(*node);
          }
        });
    // Another task of this thread has made the value while the factory waited.
    if (entry.value != nullptr) {
      destroy(node);
    } else {
      entry.value = node;
    }
    return static_cast<Node*>(entry.value)->value;
  }

  const std::function<T()> factory_;
  detail::ThreadTable values_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
