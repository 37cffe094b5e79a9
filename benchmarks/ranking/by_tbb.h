// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The fork functions and the threads of oneTBB, for comparison.

#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace ranking {

// Threads that run tasks; the main thread is one of them.
class Runtime {
 public:
  explicit Runtime(size_t threads)
      : limit_(tbb::global_control::max_allowed_parallelism, threads), arena_(static_cast<int>(threads)) {}

  template <class F>
  auto run(F&& f) {
    return arena_.execute(std::forward<F>(f));
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

using Group = tbb::task_group;

template <class F>
auto valueOf(F& f) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    f();
    return std::monostate();
  } else {
    return f();
  }
}

// Calls its arguments at the same time, the last one on this thread. Returns: the tuple of what they return.
template <class... F>
auto fork(F&&... f) {
  std::tuple<decltype(valueOf(f))...> values;
  tbb::task_group group;
  [&]<size_t... I>(std::index_sequence<I...>) {
    const auto call = [&]<size_t J>(auto& g, std::integral_constant<size_t, J>) {
      if constexpr (J + 1 < sizeof...(F)) {
        group.run([&] { std::get<J>(values) = valueOf(g); });
      } else {
        std::get<J>(values) = valueOf(g);
      }
    };
    (call(f, std::integral_constant<size_t, I>()), ...);
  }(std::index_sequence_for<F...>());
  group.wait();
  return values;
}

}  // namespace ranking
