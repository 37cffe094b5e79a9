// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <future>

#include "problem.h"

namespace {

// The least that a future costs where nothing runs at the same time.
void deferred(bench::Run& r) {
  async::measure(r, [](int64_t& sum) { std::async(std::launch::deferred, [&sum] { sum++; }).get(); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "async", "std", {{"one", {1}, deferred}});
}
