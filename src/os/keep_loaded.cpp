// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/keep_loaded.h"

#include <dlfcn.h>

#include <atomic>

// Weak: a static program needs no dynamic linker, and has nothing that could be unloaded.
#pragma weak dlopen
#pragma weak dlclose

namespace weft::inline v0_1::detail {
namespace {

// false -> true. No static object: its maker waits for the linker's lock, whose holder may wait for it.
constinit std::atomic<bool> isKept{false};

}  // namespace

void keepLoaded() noexcept {
  // relaxed: a thread that does not see it does the same again, which changes nothing.
  if (isKept.load(std::memory_order_relaxed)) {
    return;
  }
  Dl_info self{};
  if (dlopen != nullptr && dladdr(reinterpret_cast<const void*>(&keepLoaded), &self) != 0 &&
      self.dli_fname != nullptr) {
    // Null for the program itself, which stays anyway.
    if (void* library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)) {
      dlclose(library);
    }
  }
  isKept.store(true, std::memory_order_relaxed);
}

}  // namespace weft::inline v0_1::detail
