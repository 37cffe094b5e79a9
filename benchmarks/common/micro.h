// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// main() of a Google Benchmark program: prints JSON and knows --tiny. A benchmark named "what/workers:N" is
// taken by the driver as the workload "what" with N workers. A counter "per_iteration" says how many
// operations one iteration stands for.

#pragma once

#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

namespace bench {

inline int microMain(int argc, char** argv) {
  static char json[] = "--benchmark_format=json";
  static char quick[] = "--benchmark_min_time=0.0001";
  static char normal[] = "--benchmark_min_time=0.2";
  bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
  std::vector<char*> args = {argv[0], json, tiny ? quick : normal};
  for (int i = tiny ? 2 : 1; i < argc; i++) {
    args.push_back(argv[i]);
  }
  int count = static_cast<int>(args.size());
  benchmark::Initialize(&count, args.data());
  if (benchmark::ReportUnrecognizedArguments(count, args.data())) {
    return 2;
  }
  return benchmark::RunSpecifiedBenchmarks() > 0 ? 0 : 1;
}

}  // namespace bench
