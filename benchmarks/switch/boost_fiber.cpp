// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <boost/fiber/all.hpp>

#include "problem.h"

namespace {

void both(int64_t count, int depth, switching::Turns& turns) {
  auto body = [&](int who) {
    switching::takeTurns(count, depth, who, turns, [] { boost::this_fiber::yield(); });
  };
  boost::fibers::fiber a(boost::fibers::launch::post, body, 0);
  boost::fibers::fiber b(boost::fibers::launch::post, body, 1);
  a.join();
  b.join();
}

template <int depth>
void run(bench::Run& r) {
  switching::measure(r, depth, both);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "switch", "boost_fiber",
                        {{"yield", {1}, run<0>}, {"yield-frames", {1}, run<switching::kFrames>}});
}
