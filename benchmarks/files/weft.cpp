// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A fiber for each read that is at work, by weft::io, on one worker.

#include <weft/io.h>

#include <memory>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

int64_t readInLoop(const files::DataFile& file, int reader, int64_t end) {
  const auto block = std::make_unique<files::Block>();
  files::Places places(file, reader, end);
  std::error_code error;
  while (places.areLeft()) {
    const uint64_t number = places.next();
    const size_t count = weft::io::readAt(file.fd(), std::as_writable_bytes(std::span(block->words)),
                                          number * files::kBlockBytes, error);
    bench::check(count == sizeof *block, "readAt");
    bench::check(block->isOf(number), "what was read");
  }
  return places.numTaken();
}

int64_t readUntil(const files::DataFile& file, int depth, int64_t end) {
  std::atomic<int64_t> count{0};
  weft::WaitGroup done(static_cast<unsigned>(depth));
  for (int reader = 0; reader < depth; reader++) {
    weft::schedule([&, reader, done] {
      count += readInLoop(file, reader, end);
      done.done();
    });
  }
  done.wait();
  return count;
}

void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  files::measure(r, readUntil);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "files", "weft",
                        {{"cached-1", {1}, run}, {"cached-16", {1}, run}, {"direct-32", {1}, run}});
}
