// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

const auto forEach = [](size_t n, auto body) {
  for (size_t i = 0; i < n; i++) {
    body(i);
  }
};

class PlainSum {
 public:
  void add(uint64_t number) { sum_ += number; }
  uint64_t total() const { return sum_; }

 private:
  uint64_t sum_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(
      argc, argv, "loop", "serial",
      {{"large", {1}, [](bench::Run& r) { loop::measureLarge(r, forEach); }},
       {"small", {1}, [](bench::Run& r) { loop::measureSmall(r, forEach); }},
       {"skewed", {1}, [](bench::Run& r) { loop::measureSkewed(r, forEach); }},
       {"local", {1}, [](bench::Run& r) { loop::measureSum<PlainSum>(r, forEach); }},
       {"atomic", {1}, [](bench::Run& r) { loop::measureSum<loop::AtomicSum>(r, forEach); }}});
}
