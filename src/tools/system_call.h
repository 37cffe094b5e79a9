// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "inspect/unwinder.h"

namespace weft::inline v0_1::detail::tools {

// A system call in which a thread waits.
struct SystemCall {
  int64_t number = -1;           // -1: none; it waits for a page, or the like
  inspect::Registers registers;  // those that are known: the stack pointer and the pc
};

// Tells in which system call a thread waits. Keeps a file open for that.
class SystemCallReader {
 public:
  SystemCallReader(int processId, int threadId);
  ~SystemCallReader();
  SystemCallReader(const SystemCallReader&) = delete;
  SystemCallReader& operator=(const SystemCallReader&) = delete;

  // Returns: nothing, if the thread computes or has ended, or if the system does not tell.
  std::optional<SystemCall> read() const;

 private:
  const int file_;  // a descriptor; -1: there is none
};

}  // namespace weft::inline v0_1::detail::tools
