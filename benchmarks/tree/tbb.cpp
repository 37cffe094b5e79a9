// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the example treestat does, by a task_group.

#include "../../examples/treestat/reader.h"
#include "../common/tbb_harness.h"
#include "contents.h"

namespace {

constexpr size_t kTop = 3;  // the largest files of each type that are kept, as by the example

class Walk {
 public:
  treestat::Tally operator()(const std::string& root) {
    group_.run([this, root] { listDirectory(root); });
    group_.wait();
    return tally_;
  }

 private:
  void listDirectory(const std::string& path) {
    const auto directory = treestat::OpenDirectory::open(path);
    bench::check(directory != nullptr, "a directory");
    treestat::Tally tally;
    tally.directories = 1;
    reader_.list(
        *directory, tally,
        [this](std::string found) { group_.run([this, found = std::move(found)] { listDirectory(found); }); },
        [&](treestat::Names names) {
          group_.run([this, directory, names = std::move(names)] {
            treestat::Tally own;
            reader_.readFiles(*directory, names, own);
            add(own);
          });
        });
    add(tally);
  }

  void add(const treestat::Tally& tally) {
    const std::lock_guard lock(mutex_);
    tally_.add(tally, kTop);
  }

  treestat::Console console_;
  treestat::Reader reader_{kTop, console_};
  tbb::task_group group_;
  std::mutex mutex_;
  treestat::Tally tally_;  // guarded by mutex_
};

void run(bench::Run& r) {
  bench::inArena(r.workers(), [&] {
    tree::measure(r, [](const std::string& root) { return tree::contentsOf(Walk()(root)); });
  });
}

}  // namespace

int main(int argc, char** argv) { return bench::runMain(argc, argv, "tree", "tbb", {{"tree", {1, 2}, run}}); }
