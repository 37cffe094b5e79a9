// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <exception>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "weft/export.h"

namespace weft::inline v0_1 {

class ChannelClosed;
class TaskCanceled;

namespace detail {

// A program may contain code that is compiled with exceptions and code that is compiled without. Of an inline
// function that both use, one copy remains, from either. So weft's inline functions do the same in both:
// `throw` stands in the library, which is compiled with exceptions, and so does the `try` that a header must
// do without. An exception that passes through code without exceptions runs no destructors there.

[[noreturn, gnu::cold]] WEFT_EXPORT void throwOrDie(const ChannelClosed& error);
[[noreturn, gnu::cold]] WEFT_EXPORT void throwOrDie(const TaskCanceled& error);
[[noreturn, gnu::cold]] WEFT_EXPORT void throwOrDie(const std::invalid_argument& error);

// Throws `exception`, which is not null, and empties the argument, since a frame without destructors would
// keep it. By value, so that the exception can stay in a register.
[[noreturn, gnu::cold]] WEFT_EXPORT void throwOrDie(std::exception_ptr exception);

// Returns: a std::runtime_error with the what() of an error of unknown type.
WEFT_EXPORT std::exception_ptr makeUntypedException(const char* what);

// Whether the type of an exception can be told: without exceptions and without run-time type information it
// cannot. Where it matters it is a template argument, so that the two copies have different names.
#if defined(__cpp_exceptions) || (defined(__GLIBCXX__) && defined(__cpp_rtti))
constexpr bool kExceptionsAreTyped = true;
#else
constexpr bool kExceptionsAreTyped = false;
#endif

// Returns: `error`, a std::exception, as if it had been thrown and caught.
template <bool kIsTyped, class Error>
std::exception_ptr makeException(const Error& error) {
  if constexpr (kIsTyped) {
    return std::make_exception_ptr(error);
  } else {
    return detail::makeUntypedException(error.what());
  }
}

WEFT_EXPORT void callOrHandle(void (*call)(void*), void (*handle)(void*), void* argument);

// Calls function(), and handle() while an exception that escaped it is being handled.
template <class F, class Handle>
[[gnu::always_inline]] inline void callOrHandle(F&& function, const Handle& handle) {
#if defined(__cpp_exceptions)
  try {
    std::forward<F>(function)();
  } catch (...) {
    handle();
  }
#else
  struct Both {
    std::remove_reference_t<F>* function;
    const Handle* handle;
  } both{std::addressof(function), std::addressof(handle)};
  detail::callOrHandle([](void* self) { std::forward<F> (*static_cast<Both*>(self)->function)(); },
                       [](void* self) { (*static_cast<Both*>(self)->handle)(); }, &both);
#endif
}

// Calls call(argument), which is named `what`. An exception that escapes it ends the program with a message.
WEFT_EXPORT void callOrDie(void (*call)(void*), void* argument, const char* what);

// callAndEnd() for code without exceptions.
WEFT_EXPORT void callAndEnd(void (*call)(void*), void (*end)(void*), void* argument);

// Calls function(), and then end(), also if an exception escaped from function(); the exception then goes on.
// For ends that others wait for: a destructor does not run in code without exceptions. end() does not throw.
template <class F, class End>
[[gnu::always_inline]] inline void callAndEnd(const F& function, const End& end) {
#if defined(__cpp_exceptions)
  struct AtEnd {
    ~AtEnd() { end(); }
    const End& end;
  } const atEnd{end};
  function();
#else
  if constexpr (noexcept(function())) {
    function();
    end();
  } else {
    struct Both {
      const F* function;
      const End* end;
    } both{std::addressof(function), std::addressof(end)};
    detail::callAndEnd([](void* self) { (*static_cast<Both*>(self)->function)(); },
                       [](void* self) { (*static_cast<Both*>(self)->end)(); }, &both);
  }
#endif
}

}  // namespace detail
}  // namespace weft::inline v0_1
