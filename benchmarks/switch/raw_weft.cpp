// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "os/osfiber.h"
#include "raw.h"

namespace {

using weft::detail::OSFiber;

struct Sides {
  OSFiber here, there;
  void** globals = OSFiber::exceptionGlobals();
  int64_t visits = 0;
};

void otherSide(void* argument) {
  auto& sides = *static_cast<Sides*>(argument);
  for (;;) {
    sides.visits++;
    OSFiber::switchTo(sides.there, sides.here, sides.globals);
  }
}

void raw(benchmark::State& state) {
  auto stack = std::make_unique<char[]>(switching::kRawStackSize);
  Sides sides;
  sides.here.initThread();
  sides.there.init(stack.get(), switching::kRawStackSize, otherSide, &sides);
  switching::measureRaw(state, sides.visits,
                        [&] { OSFiber::switchTo(sides.here, sides.there, sides.globals); });
  sides.there.destroy();
}

BENCHMARK(raw)->Arg(0)->Arg(2)->Arg(6)->Arg(14);

}  // namespace

int main(int argc, char** argv) { return bench::microMain(argc, argv); }
