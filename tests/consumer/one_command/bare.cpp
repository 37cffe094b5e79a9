// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The second file of the application, compiled without exceptions.

#if __has_include("weft.h")
#include "weft.h"
#else
#include <weft/weft.h>
#endif

#if defined(__cpp_exceptions)
#error "this file is to be compiled with -fno-exceptions"
#endif

#include <atomic>

int runTasks(int count) {
  std::atomic<int> run{0};
  weft::WaitGroup done(static_cast<unsigned>(count));
  for (int i = 0; i < count; ++i) {
    weft::schedule([&run, done] {
      ++run;
      done.done();
    });
  }
  done.wait();
  return run;
}
