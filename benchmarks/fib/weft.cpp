// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

int64_t byValue(int n) {
  if (n < 2) {
    return n;
  }
  int64_t a = 0;
  weft::WaitGroup child(1);
  weft::schedule([&a, n, child] {
    a = byValue(n - 1);
    child.done();
  });
  int64_t b = byValue(n - 2);
  child.wait();
  return a + b;
}

int64_t byReference(int n) {
  if (n < 2) {
    return n;
  }
  int64_t a = 0;
  weft::WaitGroup child(1);
  weft::schedule([&a, n, &child] {
    a = byReference(n - 1);
    child.done();
  });
  int64_t b = byReference(n - 2);
  child.wait();
  return a + b;
}

int64_t byJoin(int n) {
  if (n < 2) {
    return n;
  }
  auto [a, b] = weft::join([n] { return byJoin(n - 1); }, [n] { return byJoin(n - 2); });
  return a + b;
}

int64_t byGroup(int n) {
  if (n < 2) {
    return n;
  }
  int64_t a = 0;
  weft::TaskGroup group;
  group.run([&a, n] { a = byGroup(n - 1); });
  int64_t b = byGroup(n - 2);
  group.wait();
  return a + b;
}

template <int64_t (*compute)(int)>
void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { fib::measure(r, compute); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "fib", "weft",
                        {{"fib", {0, 1, 2}, run<byValue>},
                         {"fib-by-reference", {1, 2}, run<byReference>},
                         {"join", {0, 1, 2}, run<byJoin>},
                         {"group", {0, 1, 2}, run<byGroup>}});
}
