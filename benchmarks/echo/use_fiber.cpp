// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// One worker, and the thread of the AsioContext, both on the server's processor.

#include "use_fiber.h"

namespace {

void run(bench::Run& r) {
  if (!echo::allowConnections(echo::connectionsOf(r))) {
    return r.skip("may not open that many files");
  }
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(r.workers()));
  weft::AsioContext context(scheduler);
  echo::serve(r, context);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "echo", "use_fiber", echo::workloads(run));
}
