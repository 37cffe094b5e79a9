// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

// What the system tells of a process that is to be looked at.
namespace weft::inline v0_1::detail::tools {

struct ProcessStatus {
  char state;  // a letter, as ps(1) has it
  int64_t numThreads;
  std::chrono::nanoseconds age;
  std::chrono::nanoseconds processorTime;  // that it has computed
};

// Returns: nothing, if it is gone, or if the system does not tell.
std::optional<ProcessStatus> statusOf(int processId);
std::optional<ProcessStatus> statusOfThread(int processId, int threadId);

// Returns: whether the process is so young that it may still be what has started it, such as a shell, or that
// the loader may not have mapped and relocated its files yet.
bool hasJustBegun(int processId);

// Throws Failure if there is no process of that number, as where it is a thread's, or if it has ended.
void checkProcess(int processId);

}  // namespace weft::inline v0_1::detail::tools
