// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <cstring>

#include "weft/detail/port/processor.h"

// What the C++ runtime keeps for a thread: which exceptions are being handled, and how many are being thrown.
// Each task has its own. A switch of fibers exchanges it. A task in place begins with an empty one.
namespace weft::inline v0_1::detail {

// The state of code that does not run now. `globals` is what __cxa_get_globals() returns, where the runtime
// keeps the state of the code that runs.
struct ExceptionState {
  void save(void* const* globals) { std::memcpy(words, globals, sizeof words); }
  void restore(void** globals) const { std::memcpy(globals, words, sizeof words); }

  // Returns: whether the code that runs neither handles nor throws an exception.
  static bool isEmpty(void* const* globals) {
    uintptr_t now[port::kExceptionWords];
    std::memcpy(now, globals, sizeof now);
    uintptr_t all = 0;
    for (const uintptr_t word : now) {
      all |= word;
    }
    return all == 0;
  }

  void* words[port::kExceptionWords] = {};
};

// While an object of this type exists, a task that runs in place sees none of the caller's exceptions.
class ExceptionsAside {
 public:
  explicit ExceptionsAside(void** globals) : globals_(globals) {
    state_.save(globals);
    ExceptionState().restore(globals);
  }
  ~ExceptionsAside() { state_.restore(globals_); }
  ExceptionsAside(const ExceptionsAside&) = delete;

 private:
  void** const globals_;
  ExceptionState state_;
};

}  // namespace weft::inline v0_1::detail
