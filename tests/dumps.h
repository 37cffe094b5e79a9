// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>

#include <weft/dump.h>

#include "texts.h"
#include "waiting.h"

// What tests of the texts of dumps share.
namespace weft::tests {

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
