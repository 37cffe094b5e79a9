// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/report/symbol.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace weft::inline v0_1::detail {

Symbol::Symbol(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0) {
    std::snprintf(text, sizeof text, "%p", address);
  } else if (info.dli_sname == nullptr) {
    std::snprintf(
        text, sizeof text, "%s+0x%zx", info.dli_fname,
        static_cast<size_t>(static_cast<const char*>(address) - static_cast<char*>(info.dli_fbase)));
  } else {
    int status = 0;
    char* name = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    std::snprintf(text, sizeof text, "%s", name != nullptr ? name : info.dli_sname);
    std::free(name);
  }
}

}  // namespace weft::inline v0_1::detail
