// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "inspect/unwinder.h"

namespace weft::inline v0_1::detail::tools {

// What a thread of another process does at each `period` of the time that it computes. A timer of the
// kernel's takes the registers and the innermost part of the stack (perf_event_open(2)). The thread is not
// stopped, and none of its calls fails.
class ProcessorSamples {
 public:
  using Take = std::function<void(const inspect::Registers& registers, const inspect::StackCopy& stack)>;

  ProcessorSamples(int threadId, std::chrono::nanoseconds period);
  ~ProcessorSamples();
  ProcessorSamples(const ProcessorSamples&) = delete;
  ProcessorSamples& operator=(const ProcessorSamples&) = delete;

  // Returns: the errno value of what the system has refused; 0: it takes samples.
  int error() const { return error_; }
  // Calls `take` for the samples since the last call. Some are lost if that was long ago.
  void forEach(const Take& take);

 private:
  bool open(int threadId, std::chrono::nanoseconds period, bool isKernelLeftOut);
  void copy(uint64_t position, void* to, size_t size) const;
  void parse(const Take& take) const;

  int file_ = -1;
  int error_ = 0;
  char* ring_ = nullptr;  // a page that tells of it, and the data behind
  std::vector<char> sample_;
};

}  // namespace weft::inline v0_1::detail::tools
