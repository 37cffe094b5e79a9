// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <oneapi/tbb.h>

#include <cstdio>

int main() {
  tbb::task_group group;
  group.run([] { std::puts("hello from a task"); });
  group.wait();
}
