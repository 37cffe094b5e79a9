// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include <algorithm>

// Prints at its exit how deep the stacks of its tasks got: what the option WEFT_STACK_REPORT makes of weft.

namespace {

template <size_t kBytes>
[[gnu::noinline]] void use() {
  char local[kBytes];
  std::fill_n(local, kBytes, '\1');
  asm volatile("" : : "r"(local) : "memory");
}

template <size_t kBytes>
void run(int times) {
  for (int i = 0; i < times; ++i) {
    weft::WaitGroup done(1);
    weft::schedule([=] {
      use<kBytes>();
      done.done();
    });
    done.wait();
  }
}

}  // namespace

int main() {
  for (const int numWorkers : {0, 2}) {
    weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(numWorkers));
    weft::Scheduler::Binding binding(scheduler);
    run<30'000>(3);
    run<500'000>(2);
    run<100'000>(5);
  }
}
