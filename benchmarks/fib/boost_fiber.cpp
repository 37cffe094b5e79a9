// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <boost/fiber/all.hpp>

#include "problem.h"

namespace {

using Stack = boost::fibers::fixedsize_stack;

constexpr size_t kStackSize = 16 * 1024;

int64_t compute(int n) {
  if (n < 2) {
    return n;
  }
  int64_t a = 0;
  boost::fibers::fiber child(boost::fibers::launch::post, std::allocator_arg, Stack(kStackSize),
                             [&a, n] { a = compute(n - 1); });
  int64_t b = compute(n - 2);
  child.join();
  return a + b;
}

// Ready fibers run in the order of their creation, so the recursion opens breadth first and holds very many
// stacks; hence one measured run only, and a smaller argument.
void run(bench::Run& r) {
  int n = r.size(25, 12);
  int64_t result = 0;
  double ns = r.medianNs([&] { result = compute(n); }, 1);
  bench::check(result == fib::expected(n), "fib");
  r.metric("ns_per_fork", ns / fib::forks(n));
  r.metric("ms", ns / fib::forks(n) * fib::forks(fib::argument(r)) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "fib", "boost_fiber", {{"fib", {1}, run}});
}
