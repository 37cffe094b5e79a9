// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <future>

#include "threads.h"

namespace {

int64_t async(blocking::Answers& answers) {
  return std::async(std::launch::async, [&] { return answers.next(); }).get();
}

}  // namespace

int main(int argc, char** argv) { return blocking::runMain<async>(argc, argv, "std"); }
