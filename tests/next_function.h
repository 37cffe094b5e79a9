// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <dlfcn.h>

namespace weft::tests {

// For a test that has a function of the C library's name. Returns: the C library's.
//
//   static const auto real = nextFunction<decltype(mmap)>("mmap");
template <class Function>
Function* nextFunction(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace weft::tests
