// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void callAll(int64_t n) {
  blocking::Answers answers;
  for (int64_t i = 0; i < n; i++) {
    answers.check(weft::blocking_call([&] { return answers.next(); }));
  }
}

void one(bench::Run& r) {
  if (r.workers() == 0) {
    blocking::measure(r, blocking::calls(r), callAll);
    return;
  }
  bench::Bound bound(r.workers());
  bench::runTask([&] { blocking::measure(r, blocking::calls(r), callAll); });
}

void many(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    blocking::measure(r, blocking::calls(r), [](int64_t n) {
      weft::WaitGroup done(blocking::kCallers);
      for (int i = 0; i < blocking::kCallers; i++) {
        weft::schedule([n, done] {
          callAll(n / blocking::kCallers);
          done.done();
        });
      }
      done.wait();
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "blocking_call", "weft", {{"one", {0, 1}, one}, {"many", {1}, many}});
}
