// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void compress(const bench::TemporaryTree& tree) {
  weft::parallelFor(tree.paths(), [](const std::string& path) {
    gzip::File file(path);
    weft::parallelFor(size_t{0}, file.numBlocks(), [&](size_t i) { file.compress(i); });
    file.write();
  });
}

void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { gzip::measure(r, compress); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "gzip", "weft", {{"gzip", {1, 2}, run}});
}
