// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// find, and as many wc as there are workers, each for 64 files at a time.

#include <cinttypes>

#include "problem.h"

namespace {

// Returns: the sum of what wc says of each file. It writes a line at a time, so that several do not mix.
bench::Contents walk(const std::string& root, int workers) {
  const std::string command =
      "find '" + root + "' -type f -print0 | LC_ALL=C xargs -0 -n 64 -P " + std::to_string(workers) + " wc";
  std::FILE* output = popen(command.c_str(), "r");
  bench::check(output != nullptr, "popen");
  bench::Contents sum;
  uint64_t lines = 0, words = 0, bytes = 0;
  char name[4096];
  while (std::fscanf(output, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %4095s", &lines, &words, &bytes, name) ==
         4) {
    if (name[0] == '/') {  // not the line "total" of 64 files
      sum.files++;
      sum.lines += lines;
      sum.words += words;
      sum.bytes += bytes;
    }
  }
  bench::check(pclose(output) == 0, "find and wc end well");
  return sum;
}

void run(bench::Run& r) {
  tree::measure(r, [&](const std::string& root) { return walk(root, r.workers()); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "tree", "xargs", {{"tree", {1, 2}, run}});
}
