// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void read(bench::Run& r) {
  bench::Bound bound(r.workers());
  weft::SharedMutex mutex;
  bench::runTask([&] { shared_mutexes::measureReads(r, mutex); });
}

void write(bench::Run& r) {
  bench::Bound bound(r.workers());
  weft::SharedMutex mutex;
  bench::runTask([&] { shared_mutexes::measureWrites(r, mutex); });
}

void mixed(bench::Run& r) {
  bench::Bound bound(r.workers());
  shared_mutexes::measureMixed<weft::SharedMutex>(
      r, [](weft::SharedMutex& mutex, int64_t& counter, int64_t rounds) {
        weft::WaitGroup holders(shared_mutexes::kHolders);
        for (int i = 0; i < shared_mutexes::kHolders; i++) {
          weft::schedule([&, rounds, holders] {
            shared_mutexes::readAndWrite(mutex, counter, rounds);
            holders.done();
          });
        }
        holders.wait();
      });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "sharedmutex", "weft",
                        {{"read", {1}, read}, {"write", {1}, write}, {"mixed", {2}, mixed}});
}
