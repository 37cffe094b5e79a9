// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A task makes ten tasks, which make ten each; the leaves return their number, and the sums travel back up:
// skynet [threads] [join or group] [levels]. With "group" each ten are a task group instead of a fork.

#include <string_view>
#include <tuple>
#include <utility>

#include "common.h"

// Each returns the sum of the numbers of the leaves from `first` on.
static size_t byJoin(size_t first, size_t leaves) {
  if (leaves == 1) {
    return first;
  }
  const size_t share = leaves / 10;
  return [=]<size_t... I>(std::index_sequence<I...>) {
    return std::apply([](auto... sums) { return (sums + ...); },
                      ranking::fork([=] { return byJoin(first + I * share, share); }...));
  }(std::make_index_sequence<10>());
}

static size_t byGroup(size_t first, size_t leaves) {
  if (leaves == 1) {
    return first;
  }
  const size_t share = leaves / 10;
  return ranking::sumBy<ranking::Group>(10, [=](size_t i) { return byGroup(first + i * share, share); });
}

int main(int argc, char** argv) {
  ranking::Runtime runtime(ranking::threadsOf(argc, argv, 1));
  const std::string_view how = argc > 2 ? argv[2] : "join";
  if (how != "join" && how != "group") {
    std::fprintf(stderr, "usage: %s [threads] [join or group] [levels]\n", argv[0]);
    return 2;
  }
  size_t leaves = 1;
  for (size_t level = ranking::argument(argc, argv, 3, 8); level > 0; level--) {
    leaves *= 10;
  }
  size_t result = 0;
  const auto compute = [&] {
    result = runtime.run([=] { return how == "join" ? byJoin(0, leaves) : byGroup(0, leaves); });
    ranking::check("skynet", result, leaves * (leaves - 1) / 2);
  };
  compute();  // warms up
  const size_t us = ranking::microsecondsOf(compute);
  std::printf("output: %zu\n", result);
  ranking::report(us);
}
