// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a lock cannot do without: an atomic exchange to take it and one to let it go; and where sixteen take
// turns, one atomic increment by two threads each.

#include <atomic>
#include <thread>

#include "problem.h"

namespace {

class Word {
 public:
  void lock() {
    bool free = false;
    bench::check(taken_.compare_exchange_strong(free, true, std::memory_order_acquire), "mutex");
  }
  void unlock() { taken_.exchange(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

void uncontended(bench::Run& r) {
  Word word;
  mutexes::measureUncontended(r, word);
}

void contended(bench::Run& r) {
  const int64_t additions = mutexes::contendedRounds(r) * mutexes::kHolders / 2;
  const double ns = r.medianNs([&] {
    std::atomic<int64_t> counter{0};
    const auto add = [&] {
      for (int64_t i = 0; i < additions; i++) {
        counter.fetch_add(1);
      }
    };
    std::thread other(add);
    add();
    other.join();
    bench::check(counter.load() == 2 * additions, "mutex");
  });
  r.metric("ns_per_lock", ns / static_cast<double>(2 * additions));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "mutex", "floor",
                        {{"uncontended", {1}, uncontended}, {"contended", {2}, contended}});
}
