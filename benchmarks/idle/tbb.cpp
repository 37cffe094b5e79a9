// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void run(bench::Run& r) {
  bench::besideArena(r.workers(), [&](tbb::task_arena& arena) {
    std::atomic<int64_t> ran{0};
    tbb::task_group group;
    auto kick = [&] { arena.enqueue(group.defer([&] { ran.fetch_add(1); })); };
    for (int i = 0; i < 10000; i++) {
      kick();
    }
    group.wait();
    int64_t kicks = idle::measure(r, kick);
    group.wait();
    bench::check(ran.load() == kicks + 10000, "idle");
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "idle", "tbb",
                        {{"idle", {2}, run}, {"rate-100", {2}, run}, {"rate-1000", {2}, run}});
}
