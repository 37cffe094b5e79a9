// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

enum class How { Plain, Yield, Limited };

template <How kHow>
void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bimodal::Requests requests(r);
  bench::Countdown left(static_cast<int64_t>(requests.size()));
  weft::Semaphore places(r.workers());  // for long requests that may compute
  requests.post([&](size_t i) {
    weft::schedule([&, i] {
      const bool isLimited = kHow == How::Limited && requests.numPieces(i) > 1;
      if (isLimited) {
        places.acquire();
      }
      for (int piece = 0; piece < requests.numPieces(i); piece++) {
        if (kHow != How::Plain && piece > 0) {
          weft::yield();
        }
        requests.compute(i);
      }
      if (isLimited) {
        places.release();
      }
      requests.end(i);
      left.done();
    });
  });
  left.wait();
  requests.report(r);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "bimodal", "weft",
                        {{"plain", {1, 2}, run<How::Plain>},
                         {"yield", {1, 2}, run<How::Yield>},
                         {"limited", {1, 2}, run<How::Limited>}});
}
