// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <thread>

// What tests share whose children may hang.
namespace weft::tests {

// Called in a child process: ends it when the test's process ends, as when CTest finds that it takes too
// long. An alarm() of the child's own would also end one that is kept off its processor.
inline void endWithTheTest() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

// A child that ends with what `run` returns. It is forked by the newest thread of the process: a child may
// start threads under qemu-user only then.
// Returns: its number, or -1.
template <class F>
pid_t forkFromNewestThread(const F& run) {
  pid_t child = -1;
  std::thread([&] {
    child = fork();
    if (child == 0) {
      _exit(run());
    }
  }).join();
  return child;
}

}  // namespace weft::tests
