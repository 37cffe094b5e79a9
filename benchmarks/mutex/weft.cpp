// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void uncontended(bench::Run& r) {
  bench::Bound bound(r.workers());
  weft::mutex mutex;
  bench::runTask([&] { mutexes::measureUncontended(r, mutex); });
}

void contended(bench::Run& r) {
  bench::Bound bound(r.workers());
  mutexes::measureContended<weft::mutex>(r, [](weft::mutex& mutex, int64_t& counter, int64_t rounds) {
    weft::WaitGroup holders(mutexes::kHolders);
    for (int i = 0; i < mutexes::kHolders; i++) {
      weft::schedule([&, rounds, holders] {
        mutexes::addUp(mutex, counter, rounds);
        holders.done();
      });
    }
    holders.wait();
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "mutex", "weft",
                        {{"uncontended", {1}, uncontended}, {"contended", {2}, contended}});
}
