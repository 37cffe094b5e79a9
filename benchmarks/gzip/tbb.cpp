// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <oneapi/tbb/parallel_for.h>

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void compress(const bench::TemporaryTree& tree) {
  tbb::parallel_for(size_t{0}, tree.paths().size(), [&](size_t number) {
    gzip::File file(tree.paths()[number]);
    tbb::parallel_for(size_t{0}, file.numBlocks(), [&](size_t i) { file.compress(i); });
    file.write();
  });
}

void run(bench::Run& r) {
  bench::inArena(r.workers(), [&] { gzip::measure(r, compress); });
}

}  // namespace

int main(int argc, char** argv) { return bench::runMain(argc, argv, "gzip", "tbb", {{"gzip", {1, 2}, run}}); }
