// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// oneTBB has no yield: a task enqueues what is left of a long request, behind those that wait.

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

class Server {
 public:
  Server(tbb::task_arena& arena, bimodal::Requests& requests, bool yields)
      : arena_(arena), requests_(requests), yields_(yields), left_(requests.size()) {}

  void serve(size_t i, int piece) {
    arena_.enqueue([this, i, piece] { computeFrom(i, piece); });
  }

  void wait() {
    while (left_.load() != 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  void computeFrom(size_t i, int piece) {
    for (; piece < requests_.numPieces(i); piece++) {
      requests_.compute(i);
      if (yields_ && piece + 1 < requests_.numPieces(i)) {
        serve(i, piece + 1);
        return;
      }
    }
    requests_.end(i);
    left_.fetch_sub(1);
  }

  tbb::task_arena& arena_;
  bimodal::Requests& requests_;
  const bool yields_;
  std::atomic<size_t> left_;
};

template <bool kYields>
void run(bench::Run& r) {
  bench::besideArena(r.workers(), [&](tbb::task_arena& arena) {
    bimodal::Requests requests(r);
    Server server(arena, requests, kYields);
    requests.post([&](size_t i) { server.serve(i, 0); });
    server.wait();
    requests.report(r);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "bimodal", "tbb",
                        {{"plain", {1, 2}, run<false>}, {"yield", {1, 2}, run<true>}});
}
