// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Each task is a fiber with a stack, a thousand at a time: a million at once would need gigabytes.

#include <boost/fiber/all.hpp>

#include "problem.h"

namespace {

void run(bench::Run& r) {
  spawn::measure(r, [](int64_t n) {
    for (int64_t i = 0; i < n; i += spawn::kBatch) {
      int64_t left = spawn::kBatch;
      for (int64_t j = 0; j < spawn::kBatch; j++) {
        boost::fibers::fiber(boost::fibers::launch::post, std::allocator_arg,
                             boost::fibers::fixedsize_stack(16 * 1024), [&left] { left--; })
            .detach();
      }
      while (left > 0) {
        boost::this_fiber::yield();
      }
      bench::check(left == 0, "spawn");
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "spawn", "boost_fiber", {{"task-thousand", {1}, run}});
}
