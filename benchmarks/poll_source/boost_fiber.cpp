// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Each fiber tests its own request, and yields to the others until it is done.

#include <boost/fiber/all.hpp>

#include "problem.h"

namespace {

using poll_source::Request;

void waitByYields(Request& request) {
  while (!request.isDone()) {
    boost::this_fiber::yield();
  }
}

void late(bench::Run& r) { poll_source::measureLateness(r, waitByYields); }

void rate(bench::Run& r) {
  poll_source::measureRate(r, [](int waiters, auto& body) {
    std::vector<boost::fibers::fiber> fibers;
    for (int i = 0; i < waiters; i++) {
      fibers.emplace_back(boost::fibers::launch::post, [&body] { body(waitByYields); });
    }
    for (boost::fibers::fiber& fiber : fibers) {
      fiber.join();
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "poll_source", "boost_fiber",
                        {{"late-1", {1}, late},
                         {"late-20", {1}, late},
                         {"late-100", {1}, late},
                         {"rate-1", {1}, rate},
                         {"rate-16", {1}, rate},
                         {"rate-1024", {1}, rate}});
}
