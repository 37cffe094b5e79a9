// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void createOnly(bench::Run& r) {
  create::measure(
      r, [&] { weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(r.workers())); });
}

void createUse(bench::Run& r) {
  create::measure(r, [&] {
    bench::Bound bound(r.workers());
    int ran = 0;
    bench::runTask([&] { ran++; });
    bench::check(ran == 1, "create");
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "create", "weft",
                        {{"create", {2}, createOnly}, {"create-use", {2}, createUse}});
}
