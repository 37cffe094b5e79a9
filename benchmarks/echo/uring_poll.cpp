// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The same, but the ring is asked only whether there is something to receive, each time.

#include "uring_server.h"

namespace {

void run(bench::Run& r) { echo::serveByRing(r, echo::UringServer::Receives::OncePolled); }

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "echo", "uring_poll", echo::workloads(run));
}
