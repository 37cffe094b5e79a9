// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>

#include <weft/dump.h>

#include "waiting.h"

// What tests of the texts of dumps share.
namespace weft::tests {

inline size_t count(const std::string& text, const std::string& part) {
  size_t times = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++times;
  }
  return times;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Returns: a dump in which `part` occurs `times` times: a fiber waits once its thread has left it.
inline std::string dumpWith(const std::string& part, size_t times) {
  std::string text;
  awaitThat([&] {
    text = dumpText();
    return count(text, part) == times;
  });
  return text;
}

}  // namespace weft::tests
