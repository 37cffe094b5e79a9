// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <cstdio>
#include <vector>

long fibonacci(int n) {
  if (n < 2) {
    return n;
  }
  auto [a, b] = weft::join([=] { return fibonacci(n - 1); }, [=] { return fibonacci(n - 2); });
  return a + b;
}

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  // Two or three functions with results.
  std::printf("fibonacci(20) is %ld\n", fibonacci(20));

  // Any number of functions.
  std::vector<int> lengths(3);
  weft::TaskGroup group;
  for (int i = 0; i < 3; ++i) {
    group.run([&lengths, i] { lengths[i] = 10 * i; });
  }
  group.wait();
  std::printf("the lengths are %d, %d and %d\n", lengths[0], lengths[1], lengths[2]);

  // One function for each element of a range, or for each number.
  std::vector<int> squares(1001);
  weft::parallelFor(0, 1001, [&](int i) { squares[i] = i * i; });
  std::printf("the square of 1000 is %d\n", squares[1000]);

  // One result from all elements.
  std::printf("the sum of the squares is %d\n", weft::parallelReduce(squares, 0));
}
