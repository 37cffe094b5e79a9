// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>

namespace weft::tests {

// A value that counts how many of it live, and how many were made of a number.
struct LiveObject {
  explicit LiveObject(int number = 0) : value(number) {
    ++numAlive;
    ++numMade;
  }
  LiveObject(const LiveObject& other) : value(other.value) { ++numAlive; }
  LiveObject(LiveObject&& other) noexcept : value(other.value) { ++numAlive; }
  LiveObject& operator=(const LiveObject&) = default;
  ~LiveObject() { --numAlive; }

  int value;
  static inline std::atomic<int> numAlive{0}, numMade{0};
};

}  // namespace weft::tests
