// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <string>

#include "inspect/timeline_file.h"
#include "scheduler/trace/trace_file.h"

namespace weft::inline v0_1::detail {

// A file that the destructor writes, with what the flight recorder holds then: see trace::dump(). As a static
// object it is written at the end of the process. A child of fork() that ends writes nothing.
class TraceFileAtExit {
 public:
  // `variable`: of the environment, which names the path.
  TraceFileAtExit(const char* variable, const char* path, inspect::TimelineFormat format);
  ~TraceFileAtExit();
  TraceFileAtExit(const TraceFileAtExit&) = delete;
  TraceFileAtExit& operator=(const TraceFileAtExit&) = delete;

 private:
  const std::string before_;
  TraceFile& file_;
  const inspect::TimelineFormat format_;
  const pid_t process_;
};

}  // namespace weft::inline v0_1::detail
