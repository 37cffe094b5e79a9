// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The programs of a public ranking of runtimes, with its sizes, run one by one: fib(39), 10^8 leaves of
// skynet, 14 queens, a product of two matrices of 2,048 x 2,048, ten million numbers through a channel, and
// 100,000 requests over 20 connections. Each program checks its result.
//
//   ms         time of one run, after one that warms up
//   rss_mib    the most memory that the program had

#pragma once

#include <cstdio>
#include <string>

#include "../common/client.h"

namespace ranking {

// A program and its arguments, where "W" stands for the number of workers.
struct Command {
  const char* program;
  const char* full;
  const char* tiny;
};

inline constexpr Command kFib{"fib", "39 W", "15 W"};
inline constexpr Command kSkynet{"skynet", "W join 8", "W join 3"};
inline constexpr Command kSkynetByGroup{"skynet", "W group 8", "W group 3"};
inline constexpr Command kQueens{"nqueens", "W 14", "W 8"};
inline constexpr Command kProduct{"matmul", "2048 W", "64 W"};
inline constexpr Command kChannel{"channel", "W 10000000", "W 10000"};
inline constexpr Command kSockets{"io_socket_st", "20 100000", "4 400"};

// Runs the program whose name ends with `suffix`, and reads what it says about its run.
inline void runProgram(bench::Run& run, const Command& what, const char* suffix = "") {
  std::string arguments = run.size(what.full, what.tiny);
  if (const size_t place = arguments.find('W'); place != std::string::npos) {
    arguments.replace(place, 1, std::to_string(run.workers()));
  }
  std::string program = "ranking/ranking_";
  program += what.program;
  program += suffix;
  std::string command = "'";
  command += bench::pathOf(program.c_str());
  command += "' ";
  command += arguments;
  std::FILE* output = popen(command.c_str(), "r");
  bench::check(output != nullptr, "popen");
  char line[256];
  double us = 0, kib = 0;
  while (std::fgets(line, sizeof line, output) != nullptr) {
    std::sscanf(line, " duration: %lf us", &us);
    std::sscanf(line, " max_rss: %lf KiB", &kib);
  }
  bench::check(pclose(output) == 0 && us > 0 && kib > 0, program.c_str());
  run.metric("ms", us / 1e3);
  run.metric("rss_mib", kib / 1024);
}

}  // namespace ranking
