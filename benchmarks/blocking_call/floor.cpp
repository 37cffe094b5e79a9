// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "threads.h"

namespace {

int64_t onNewThread(blocking::Answers& answers) {
  int64_t answer = 0;
  std::thread thread([&] { answer = answers.next(); });
  thread.join();
  return answer;
}

}  // namespace

int main(int argc, char** argv) { return blocking::runMain<onNewThread>(argc, argv, "floor"); }
