// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "text_counter.h"

#include <algorithm>
#include <array>

namespace treestat {
namespace {

constexpr uint8_t kSpace = 1, kPrintable = 2;  // and 0 for all else

constexpr std::array<uint8_t, 256> makeKinds() {
  std::array<uint8_t, 256> kinds{};
  for (size_t c = '!'; c <= '~'; ++c) {
    kinds[c] = kPrintable;
  }
  for (const unsigned char c : {' ', '\t', '\n', '\v', '\f', '\r'}) {
    kinds[c] = kSpace;
  }
  return kinds;
}

constexpr std::array<uint8_t, 256> kKinds = makeKinds();

}  // namespace

void TextCounter::add(const char* data, size_t size) {
  text_.bytes += size;
  text_.lines += static_cast<uint64_t>(std::count(data, data + size, '\n'));
  uint64_t words = 0;
  unsigned inWord = inWord_;
  for (size_t i = 0; i < size; ++i) {
    // Without branches, for they would be mispredicted at every word.
    const unsigned kind = kKinds[static_cast<unsigned char>(data[i])];
    const unsigned isPrintable = kind / kPrintable;
    words += isPrintable & ~inWord;
    inWord = (inWord & ~kind) | isPrintable;
  }
  text_.words += words;
  inWord_ = inWord;
}

}  // namespace treestat
