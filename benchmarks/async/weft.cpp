// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void one(int64_t& sum) {
  weft::async([&sum] { sum++; }).get();
}

void value(int64_t& sum) {
  sum += weft::async([] { return 1; }).get();
}

void then(int64_t& sum) {
  sum += weft::async([] { return 1; }).then([](int number) { return number; }).get();
}

template <void (*once)(int64_t&)>
void fromTask(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { async::measure(r, once); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "async", "weft",
                        {{"one", {0, 1, 2}, fromTask<one>},
                         {"value", {0, 1, 2}, fromTask<value>},
                         {"then", {0, 1, 2}, fromTask<then>}});
}
