// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void byJoin(matmul::Matrices& m, const matmul::Block& block) {
  if (block.isTile()) {
    matmul::multiplyTile(m, block);
    return;
  }
  weft::join([&] { byJoin(m, block.first()); }, [&] { byJoin(m, block.second()); });
}

void byGroup(matmul::Matrices& m, const matmul::Block& block) {
  if (block.isTile()) {
    matmul::multiplyTile(m, block);
    return;
  }
  weft::TaskGroup group;
  group.run([&] { byGroup(m, block.first()); });
  byGroup(m, block.second());
  group.wait();
}

template <void (*compute)(matmul::Matrices&, const matmul::Block&)>
void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { matmul::measure(r, compute); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "matmul", "weft",
                        {{"join", {0, 1, 2}, run<byJoin>}, {"group", {0, 1, 2}, run<byGroup>}});
}
