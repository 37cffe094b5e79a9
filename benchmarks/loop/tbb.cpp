// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <functional>

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

const auto forEach = [](size_t n, auto body) { tbb::parallel_for(size_t{0}, n, body); };

class LocalSum {
 public:
  void add(uint64_t number) { sums_.local() += number; }
  uint64_t total() { return sums_.combine(std::plus()); }

 private:
  tbb::enumerable_thread_specific<uint64_t> sums_{uint64_t{0}};
};

}  // namespace

int main(int argc, char** argv) {
  const auto large = [](bench::Run& r) {
    bench::inArena(r.workers(), [&] { loop::measureLarge(r, forEach); });
  };
  const auto small = [](bench::Run& r) {
    bench::inArena(r.workers(), [&] { loop::measureSmall(r, forEach); });
  };
  const auto skewed = [](bench::Run& r) {
    bench::inArena(r.workers(), [&] { loop::measureSkewed(r, forEach); });
  };
  const auto local = [](bench::Run& r) {
    bench::inArena(r.workers(), [&] { loop::measureSum<LocalSum>(r, forEach); });
  };
  const auto atomic = [](bench::Run& r) {
    bench::inArena(r.workers(), [&] { loop::measureSum<loop::AtomicSum>(r, forEach); });
  };
  return bench::runMain(argc, argv, "loop", "tbb",
                        {{"large", {1, 2}, large},
                         {"small", {1, 2}, small},
                         {"skewed", {1, 2}, skewed},
                         {"local", {1, 2}, local},
                         {"atomic", {1, 2}, atomic}});
}
