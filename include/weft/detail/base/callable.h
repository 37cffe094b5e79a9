// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <type_traits>

#include "weft/export.h"

namespace weft::inline v0_1 {

class Task;
class TaskHandle;

namespace detail {

// Whether weft can keep an argument of type F: by copying or moving it. Its destructor may throw.
template <class F>
inline constexpr bool kCanBeKept = std::is_constructible_v<std::decay_t<F>, F>;

template <class F>
constexpr bool assertKept() {
  static_assert(kCanBeKept<F>,
                "weft keeps a copy of this function, which cannot be copied. Write std::move(f).");
  return kCanBeKept<F>;
}

// For the static_assert of a function that is only called by mistake.
template <class...>
inline constexpr bool kAlwaysFalse = false;

// Ends the program with a message: `where`, "schedule()" for instance, was given an empty function.
[[noreturn, gnu::cold, gnu::noinline]] WEFT_EXPORT void reportEmptyFunction(const char* where);

// Ends the program with a message if `function` is empty: an empty std::function or Task, a null pointer.
template <class F>
void assertCallable(const F& function, const char* where) {
  bool isEmpty = false;
  if constexpr (std::same_as<F, Task> || std::same_as<F, TaskHandle>) {
    isEmpty = !static_cast<bool>(function);
  } else if constexpr (!std::is_function_v<F> && !std::is_empty_v<F> && requires { function == nullptr; }) {
    isEmpty = static_cast<bool>(function == nullptr);
  }
  if (isEmpty) [[unlikely]] {
    detail::reportEmptyFunction(where);
  }
}

}  // namespace detail
}  // namespace weft::inline v0_1
