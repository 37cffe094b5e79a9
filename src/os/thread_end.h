// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cxxabi.h>

namespace weft::inline v0_1::detail {

// Has call(nullptr) called when the thread ends, before the destructors of older thread_local objects. Such a
// destructor may need what `call` ends, and calls this again. (A thread_local object is made only once.)
inline void atThreadEnd(void (*call)(void*)) noexcept {
  // The last argument is an address in the shared library that stays loaded until then.
  abi::__cxa_thread_atexit(call, nullptr, reinterpret_cast<void*>(call));
}

}  // namespace weft::inline v0_1::detail
