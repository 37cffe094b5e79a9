// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void run(bench::Run& r) {
  const auto shape = request::Shape::of(r);
  const bench::Work work(shape.taskUs);
  // As many threads as with the others: the one that waits for the group runs tasks too.
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(r.workers()) + 1);
  tbb::task_arena arena(r.workers() + 1);
  const auto runBurst = [&] {
    arena.execute([&] {
      tbb::task_group group;
      for (int i = 0; i < shape.burst; i++) {
        group.run([&work] { work(); });
      }
      group.wait();
    });
  };
  request::measureHops(r, shape, [] {}, [] {}, runBurst);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "request", "tbb", request::workloads(run));
}
