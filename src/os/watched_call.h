// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

// Calls that no exception leaves. One that would is reported where it is thrown: the search for a handler,
// which comes before any frame is left, ends there. So the report, a core dump and a debugger have the stack
// of the throw, which a catch (...) would have unwound.
namespace weft::inline v0_1::detail {

// Says what becomes of an exception that escapes a watched call.
struct Watch {
  // Does not return. `other` is null for a C++ exception, which is being handled then. Else it says what
  // wants to unwind the stack.
  void (*escaped)(const Watch* self, const char* other);
};

// Calls function(argument, operation), watched by `watch`, which outlives the call. A backend has it in
// assembly: one call, which saves `watch` on the stack.
extern "C" void weft_call_watched(void* argument, uintptr_t operation, void* function, const Watch* watch);

// To be called by Watch::escaped(), while the stack of the throw exists; elsewhere returns null.
// Returns: the address of the call that has thrown the exception; null where the unwinder does not know.
const void* findThrow();

// Calls f(), watched by `watch`.
template <class F>
void callWatched(F& f, const Watch& watch) {
  const auto call = [](void* self, uintptr_t) { (*static_cast<F*>(self))(); };
  void (*const function)(void*, uintptr_t) = call;
  weft_call_watched(&f, 0, reinterpret_cast<void*>(function), &watch);
}

}  // namespace weft::inline v0_1::detail
