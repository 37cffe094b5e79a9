// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <ucontext.h>

#include <memory>

#include "raw.h"

namespace {

// makecontext passes no pointers, hence the global.
struct {
  ucontext_t here, there;
  int64_t visits;
} sides;

void otherSide() {
  for (;;) {
    sides.visits++;
    swapcontext(&sides.there, &sides.here);
  }
}

void raw(benchmark::State& state) {
  auto stack = std::make_unique<char[]>(switching::kRawStackSize);
  getcontext(&sides.there);
  sides.there.uc_stack.ss_sp = stack.get();
  sides.there.uc_stack.ss_size = switching::kRawStackSize;
  sides.there.uc_link = nullptr;
  makecontext(&sides.there, otherSide, 0);
  switching::measureRaw(state, sides.visits, [] { swapcontext(&sides.here, &sides.there); });
}

BENCHMARK(raw)->Arg(0)->Arg(2)->Arg(6)->Arg(14);

}  // namespace

int main(int argc, char** argv) { return bench::microMain(argc, argv); }
