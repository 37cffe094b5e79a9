// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

namespace treestat {

struct Text {
  uint64_t lines = 0;
  uint64_t words = 0;
  uint64_t bytes = 0;

  void add(const Text& other) {
    lines += other.lines;
    words += other.words;
    bytes += other.bytes;
  }
};

// Counts one text that comes in pieces, as wc does in the C locale: a line ends with a newline; a word ends
// at white space and holds a printable ASCII character; bytes that are neither white space nor printable do
// not begin a word, nor end one.
class TextCounter {
 public:
  void add(const char* data, size_t size);
  const Text& text() const { return text_; }

 private:
  Text text_;
  unsigned inWord_ = 0;
};

}  // namespace treestat
