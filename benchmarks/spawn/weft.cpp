// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <ranges>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

// wait() returns after exactly n calls of done(), and one call too many ends the program: that is the oracle.
void spawnByValue(int64_t n) {
  weft::WaitGroup group(static_cast<unsigned>(n));
  for (int64_t i = 0; i < n; i++) {
    weft::schedule([group] { group.done(); });
  }
  group.wait();
}

void spawnCounted(int64_t n) {
  bench::Countdown left(n);
  for (int64_t i = 0; i < n; i++) {
    weft::schedule([&left] { left.done(); });
  }
  left.wait();
}

void spawnMany(int64_t n) {
  bench::Countdown left(n);
  weft::scheduleMany(std::views::iota(int64_t{0}, n) |
                     std::views::transform([&left](int64_t) { return [&left] { left.done(); }; }));
  left.wait();
}

void spawnThousands(int64_t n) {
  for (int64_t i = 0; i < n; i += spawn::kBatch) {
    spawnCounted(spawn::kBatch);
  }
}

void spawnGroup(int64_t n) {
  weft::TaskGroup group;
  for (int64_t i = 0; i < n; i++) {
    group.run([] { spawn::Ran::count(); });
  }
  group.wait();
  bench::check(spawn::Ran::take() == n, "spawn");
}

template <void (*spawnAll)(int64_t)>
void fromTask(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { spawn::measure(r, spawnAll); });
}

template <void (*spawnAll)(int64_t)>
void fromOutside(bench::Run& r) {
  bench::Bound bound(r.workers());
  spawn::measure(r, spawnAll);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "spawn", "weft",
                        {{"task", {0, 1, 2}, fromTask<spawnByValue>},
                         {"task-counter", {0, 1, 2}, fromTask<spawnCounted>},
                         {"task-thousand", {0, 1, 2}, fromTask<spawnThousands>},
                         {"many", {0, 1, 2}, fromTask<spawnMany>},
                         {"group", {0, 1, 2}, fromTask<spawnGroup>},
                         {"outside", {1, 2}, fromOutside<spawnByValue>},
                         {"outside-counter", {1, 2}, fromOutside<spawnCounted>},
                         {"outside-many", {1, 2}, fromOutside<spawnMany>}});
}
