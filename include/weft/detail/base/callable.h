// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <type_traits>

#include "weft/export.h"

namespace weft {

class Task;
class TaskHandle;

namespace detail {

// Ends the program with a message: `where`, "schedule()" for instance, was given an empty function.
[[noreturn, gnu::cold, gnu::noinline]] WEFT_EXPORT void reportEmptyFunction(const char* where);

// Ends the program with a message if `function` holds nothing to call: an empty std::function, a null
// pointer, an empty Task. What cannot be empty, as a lambda, is not looked at.
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
}  // namespace weft
