// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// This program writes below the stack of a task: one frame is larger than the stack. It is compiled without
// -fstack-clash-protection, so that the guard does not stop it. docs/debugging.md explains what it prints.

#include <cstdio>

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

size_t readImage(std::FILE* file) {
  char pixels[16'384 * 16'384];  // the mistake: a stack has 1 MiB
  return std::fread(pixels, 1, sizeof pixels, file);
}

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  weft::Scheduler::Binding bound(scheduler);

  weft::WaitGroup done(1);
  weft::schedule([=] {
    std::printf("%zu\n", readImage(stdin));
    done.done();
  });
  done.wait();
}
