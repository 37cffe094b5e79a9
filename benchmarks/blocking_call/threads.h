// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the rivals share, which make each call on a thread of its own.

#pragma once

#include <thread>
#include <vector>

#include "problem.h"

namespace blocking {

template <int64_t (*call)(Answers&)>
void callAll(int64_t n) {
  Answers answers;
  for (int64_t i = 0; i < n; i++) {
    answers.check(call(answers));
  }
}

template <int64_t (*call)(Answers&)>
void one(bench::Run& r) {
  measure(r, calls(r), callAll<call>);
}

template <int64_t (*call)(Answers&)>
void many(bench::Run& r) {
  measure(r, calls(r), [](int64_t n) {
    std::vector<std::thread> callers;
    for (int i = 0; i < kCallers; i++) {
      callers.emplace_back([n] { callAll<call>(n / kCallers); });
    }
    for (auto& caller : callers) {
      caller.join();
    }
  });
}

template <int64_t (*call)(Answers&)>
int runMain(int argc, char** argv, const char* library) {
  return bench::runMain(argc, argv, "blocking_call", library,
                        {{"one", {1}, one<call>}, {"many", {1}, many<call>}});
}

}  // namespace blocking
