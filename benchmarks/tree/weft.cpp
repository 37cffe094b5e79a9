// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The walk of the example treestat.

#include "../../examples/treestat/walk.h"

#include "../common/weft_harness.h"
#include "contents.h"

namespace {

void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  tree::measure(r, [&](const std::string& root) {
    treestat::Console console;
    treestat::Walk walk({.workers = r.workers()}, console);
    walk.start(treestat::OpenDirectory::open(root));
    while (!walk.waitFor(std::chrono::hours(1))) {
    }
    return tree::contentsOf(walk.tally());
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "tree", "weft", {{"tree", {1, 2}, run}});
}
