// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <boost/fiber/all.hpp>

#include <cstdio>

int main() {
  boost::fibers::fiber fiber([] { std::puts("hello from a task"); });
  fiber.join();
}
