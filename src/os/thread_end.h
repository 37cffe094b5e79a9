// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cxxabi.h>

namespace weft::inline v0_1::detail {

// Has call(nullptr) called when the calling thread ends, before the destructors of thread_local objects that
// were made earlier. Such a destructor may itself need what `call` ends, and then calls this function again.
// (A thread_local object would not do: it is made once, and not again after its destruction.)
inline void atThreadEnd(void (*call)(void*)) noexcept {
  // The last argument is an address in the shared library that stays loaded until then.
  abi::__cxa_thread_atexit(call, nullptr, reinterpret_cast<void*>(call));
}

}  // namespace weft::inline v0_1::detail
