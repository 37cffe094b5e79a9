// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// For inspect_test.py: a program whose task waits, and which loads a library that contains a weft of its own,
// whose task waits too. It prints "ready" once both wait, and ends with its input.
//
//   two_copies LIBRARY
//
// With LIBRARY_OF_A_COPY it is that library.

#include <chrono>
#include <cstdio>
#include <memory>

#include "weft/event.h"
#include "weft/scheduler.h"
#include "weft/sleep.h"
#include "weft/waitgroup.h"

namespace {

// A scheduler with a task that waits.
class Waiting {
 public:
  Waiting() : scheduler_(weft::Scheduler::Config().setWorkerThreadCount(1)) {
    weft::Event hasBegun;
    scheduler_.enqueue(weft::Task([hasBegun, mayEnd = mayEnd_] {
      hasBegun.signal();
      mayEnd.wait();
    }));
    hasBegun.wait();
  }
  ~Waiting() { mayEnd_.signal(); }

 private:
  const weft::Event mayEnd_{weft::Event::Mode::Manual};
  weft::Scheduler scheduler_;
};

}  // namespace

#if defined(LIBRARY_OF_A_COPY)

#pragma GCC visibility push(default)
extern "C" {

void* beginWait() { return new Waiting; }
void endWait(void* waiting) { delete static_cast<Waiting*>(waiting); }

}  // extern "C"
#pragma GCC visibility pop

#else

#include <dlfcn.h>

int main(int, char** argv) {
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fputs(dlerror(), stderr);
    return 1;
  }
  const auto begin = reinterpret_cast<void* (*)()>(dlsym(library, "beginWait"));
  const auto end = reinterpret_cast<void (*)(void*)>(dlsym(library, "endWait"));
  {
    const Waiting own;
    void* const other = begin();
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    end(other);
  }
  std::puts("ended");
}

#endif
