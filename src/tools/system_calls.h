// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "inspect/unwinder.h"

namespace weft::inline v0_1::detail::tools {

// A system call in which a thread waits.
struct SystemCall {
  int64_t number = -1;           // -1: none; it waits for a page, or the like
  inspect::Registers registers;  // those that are known: the stack pointer and the pc
};

// Tells in which system calls the threads of a process wait. Keeps a file open for each.
class SystemCalls {
 public:
  explicit SystemCalls(int processId) : processId_(processId) {}
  ~SystemCalls();
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;

  // Returns: nothing, if the thread computes or has ended, or if the system does not tell.
  std::optional<SystemCall> of(int threadId);

 private:
  const int processId_;
  std::map<int, int> files_;  // descriptors, by threads
};

}  // namespace weft::inline v0_1::detail::tools
