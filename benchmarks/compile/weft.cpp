// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <cstdio>

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  scheduler.bind();
  weft::WaitGroup done(1);
  weft::schedule([done] {
    std::puts("hello from a task");
    done.done();
  });
  done.wait();
  weft::Scheduler::unbind();
}
