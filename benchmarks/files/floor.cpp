// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// pread(2), in a loop on each of as many threads as reads are at work at a time.

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "problem.h"

namespace {

int64_t readInLoop(const files::DataFile& file, int reader, int64_t end) {
  const auto block = std::make_unique<files::Block>();
  files::Places places(file, reader, end);
  while (places.areLeft()) {
    const uint64_t number = places.next();
    const auto offset = static_cast<off_t>(number * files::kBlockBytes);
    bench::check(pread(file.fd(), block.get(), sizeof *block, offset) == sizeof *block, "pread");
    bench::check(block->isOf(number), "what was read");
  }
  return places.numTaken();
}

int64_t readUntil(const files::DataFile& file, int depth, int64_t end) {
  std::atomic<int64_t> count{0};
  std::vector<std::thread> others;
  for (int reader = 1; reader < depth; reader++) {
    others.emplace_back([&, reader] { count += readInLoop(file, reader, end); });
  }
  count += readInLoop(file, 0, end);
  for (std::thread& thread : others) {
    thread.join();
  }
  return count;
}

void run(bench::Run& r) { files::measure(r, readUntil); }

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "files", "floor", {{"cached-1", {1}, run}, {"direct-32", {1}, run}});
}
