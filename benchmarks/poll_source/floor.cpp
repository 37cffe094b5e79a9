// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Each thread tests its own request in a loop: nobody is told later, and nothing costs more processor time.

#include "problem.h"

namespace {

using poll_source::Request;

void spin(Request& request) {
  while (!request.isDone()) {
  }
}

void late(bench::Run& r) { poll_source::measureLateness(r, spin); }

void rate(bench::Run& r) {
  poll_source::measureRate(r, [](int waiters, auto& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < waiters; i++) {
      threads.emplace_back([&body] { body(spin); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "poll_source", "floor",
                        {{"late-1", {1}, late},
                         {"late-20", {1}, late},
                         {"late-100", {1}, late},
                         {"late-1000", {1}, late},
                         {"late-10000", {1}, late},
                         {"rate-1", {1}, rate},
                         {"rate-16", {1}, rate},
                         {"rate-1024", {1}, rate}});
}
