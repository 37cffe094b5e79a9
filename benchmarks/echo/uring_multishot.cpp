// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The same, but a connection is asked of once, and the system takes buffers of a ring (multishot).

#include "uring_server.h"

namespace {

void run(bench::Run& r) { echo::serveByRing(r, echo::UringServer::Receives::Multishot); }

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "echo", "uring_multishot", echo::workloads(run));
}
