// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A loop around a ring of io_uring on one thread. It asks for a receive from each connection anew, and sends
// at once, by a system call.

#include "uring_server.h"

namespace {

void run(bench::Run& r) { echo::serveByRing(r, echo::UringServer::Receives::Once); }

}  // namespace

int main(int argc, char** argv) { return bench::runMain(argc, argv, "echo", "uring", echo::workloads(run)); }
