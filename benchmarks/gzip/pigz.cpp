// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The program pigz, with as many threads as there are workers.

#include "problem.h"

namespace {

void run(bench::Run& r) {
  gzip::measure(r, [&](const bench::TemporaryTree& tree) {
    const std::string command = "pigz --keep --recursive -" + std::to_string(gzip::kLevel) + " --processes " +
                                std::to_string(r.workers()) + " '" + tree.root() + "'";
    bench::check(std::system(command.c_str()) == 0, "pigz ends well");
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "gzip", "pigz", {{"gzip", {1, 2}, run}});
}
