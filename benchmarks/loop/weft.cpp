// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <functional>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

const auto forEach = [](size_t n, auto body) { weft::parallelFor(size_t{0}, n, body); };

class LocalSum {
 public:
  void add(uint64_t number) { sums_.local() += number; }
  uint64_t total() const { return sums_.combine(0, std::plus()); }

 private:
  weft::WorkerLocal<uint64_t> sums_;
};

template <class Measure>
void inTask(bench::Run& r, Measure measure) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { measure(r, forEach); });
}

}  // namespace

int main(int argc, char** argv) {
  const auto large = [](bench::Run& r) { inTask(r, [](auto&... args) { loop::measureLarge(args...); }); };
  const auto small = [](bench::Run& r) { inTask(r, [](auto&... args) { loop::measureSmall(args...); }); };
  const auto skewed = [](bench::Run& r) { inTask(r, [](auto&... args) { loop::measureSkewed(args...); }); };
  const auto local = [](bench::Run& r) {
    inTask(r, [](auto&... args) { loop::measureSum<LocalSum>(args...); });
  };
  const auto atomic = [](bench::Run& r) {
    inTask(r, [](auto&... args) { loop::measureSum<loop::AtomicSum>(args...); });
  };
  return bench::runMain(argc, argv, "loop", "weft",
                        {{"large", {1, 2}, large},
                         {"small", {1, 2}, small},
                         {"skewed", {1, 2}, skewed},
                         {"local", {1, 2}, local},
                         {"atomic", {1, 2}, atomic}});
}
