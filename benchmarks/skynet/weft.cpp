// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

#include <tuple>
#include <utility>

namespace {

int64_t byWaitGroup(int64_t first, int64_t leaves) {
  if (leaves == 1) {
    return first;
  }
  int64_t sums[skynet::kWays];
  int64_t share = leaves / skynet::kWays;
  weft::WaitGroup children(skynet::kWays);
  for (int i = 0; i < skynet::kWays; i++) {
    weft::schedule([sum = &sums[i], begin = first + i * share, share, children] {
      *sum = byWaitGroup(begin, share);
      children.done();
    });
  }
  children.wait();
  return skynet::total(sums);
}

int64_t byJoin(int64_t first, int64_t leaves) {
  if (leaves == 1) {
    return first;
  }
  const int64_t share = leaves / skynet::kWays;
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return std::apply([](auto... sums) { return (sums + ...); },
                      weft::join([&] { return byJoin(first + I * share, share); }...));
  }(std::make_integer_sequence<int, skynet::kWays>());
}

int64_t byGroup(int64_t first, int64_t leaves) {
  if (leaves == 1) {
    return first;
  }
  int64_t sums[skynet::kWays];
  int64_t share = leaves / skynet::kWays;
  weft::TaskGroup children;
  for (int i = 0; i < skynet::kWays; i++) {
    children.run([sum = &sums[i], begin = first + i * share, share] { *sum = byGroup(begin, share); });
  }
  children.wait();
  return skynet::total(sums);
}

template <int64_t (*compute)(int64_t, int64_t)>
void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { skynet::measure(r, compute); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "skynet", "weft",
                        {{"skynet", {0, 1, 2}, run<byWaitGroup>},
                         {"join", {0, 1, 2}, run<byJoin>},
                         {"group", {0, 1, 2}, run<byGroup>}});
}
