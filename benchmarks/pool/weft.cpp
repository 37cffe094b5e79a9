// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

// A pool makes its objects as `new T` does, which leaves a bare integer uninitialised.
struct Counter {
  int64_t count = 0;
};

using Bounded = weft::BoundedPool<Counter, pool::kObjects, weft::PoolPolicy::Preserve>;

void alone(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    pool::measure(r, 5000000, [&](int64_t n) {
      Bounded objects;
      for (int64_t i = 0; i < n; i++) {
        ++objects.borrow()->count;
      }
      const auto one = objects.borrow(), two = objects.borrow();
      bench::check(one->count + two->count == n, "pool");
    });
  });
}

void growing(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    pool::measure(r, 5000000, [&](int64_t n) {
      weft::UnboundedPool<Counter, weft::PoolPolicy::Preserve> objects;
      for (int64_t i = 0; i < n; i++) {
        ++objects.borrow()->count;
      }
      int64_t sum = 0;
      std::vector<weft::Loan<Counter>> all;
      objects.borrow(32, [&](auto&& loan) {
        sum += loan->count;
        all.push_back(loan);
      });
      bench::check(sum == n, "pool");
    });
  });
}

void contended(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    pool::measure(r, 320000, [&](int64_t n) {
      Bounded objects;
      weft::WaitGroup done(pool::kBorrowers);
      for (int i = 0; i < pool::kBorrowers; i++) {
        weft::schedule([=] {
          for (int64_t j = 0; j < n / pool::kBorrowers; j++) {
            auto object = objects.borrow();
            ++object->count;
            weft::yield();
          }
          done.done();
        });
      }
      done.wait();
      const auto one = objects.borrow(), two = objects.borrow();
      bench::check(one->count + two->count == n, "pool");
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(
      argc, argv, "pool", "weft",
      {{"bounded", {1}, alone}, {"unbounded", {1}, growing}, {"contended", {1, 2}, contended}});
}
