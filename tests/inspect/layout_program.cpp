// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Prints where the pointer to the schedulers lies, for find_layout_test.cpp, and waits.

#include <cstdio>

extern "C" const void* testSchedulers();

int main() {
  std::printf("%p\n", testSchedulers());
  std::fflush(stdout);
  return std::getchar() == EOF ? 0 : 1;
}
