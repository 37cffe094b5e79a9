// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// For inspect_test.py: a program that loads libraries one after the other. A task waits in a function of the
// library, until a line of the input ends it, and the library is unloaded. The program prints "ready" before
// the first library and once the task of each waits, and ends with its input.
//
//   plugins LIBRARY...
//
// With PLUGIN it is a library, whose function is called PLUGIN.

#if defined(PLUGIN)

#pragma GCC visibility push(default)
extern "C" {

__attribute__((noinline)) void PLUGIN(void (*wait)()) {
  wait();
  asm volatile("");  // so that the call above is none that replaces this one
}
void begin(void (*wait)()) {
  PLUGIN(wait);
  asm volatile("");
}

}  // extern "C"
#pragma GCC visibility pop

#else

#include <dlfcn.h>

#include <cstdio>

#include "weft/event.h"
#include "weft/scheduler.h"
#include "weft/waitgroup.h"

namespace {

const weft::Event hasBegun(weft::Event::Mode::Auto);
const weft::Event mayEnd(weft::Event::Mode::Auto);

void wait() {
  hasBegun.signal();
  mayEnd.wait();
  asm volatile("");
}

// Returns: whether there was a line.
bool awaitLine() {
  std::puts("ready");
  std::fflush(stdout);
  return std::getchar() != EOF;
}

}  // namespace

int main(int, char** argv) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  bool goesOn = awaitLine();
  for (++argv; goesOn && *argv != nullptr; ++argv) {
    void* const library = dlopen(*argv, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fputs(dlerror(), stderr);
      return 1;
    }
    const auto begin = reinterpret_cast<void (*)(void (*)())>(dlsym(library, "begin"));
    const weft::WaitGroup rest(1);
    scheduler.enqueue(weft::Task([begin, rest] {
      begin(wait);
      rest.done();
    }));
    hasBegun.wait();
    goesOn = awaitLine();
    mayEnd.signal();
    rest.wait();
    dlclose(library);
  }
  std::puts("ended");
}

#endif
