// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstring>
#include <string_view>

namespace weft::tests {

// Reads JSON, and complains of what is none.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  // Returns: whether the text is one value and nothing else.
  bool isValid() {
    value();
    space();
    return good_ && rest_.empty();
  }

 private:
  void space() {
    while (!rest_.empty() && std::strchr(" \n\t\r", rest_.front()) != nullptr) {
      rest_.remove_prefix(1);
    }
  }
  bool take(char c) {
    space();
    const bool is = !rest_.empty() && rest_.front() == c;
    rest_.remove_prefix(is ? 1 : 0);
    return is;
  }
  void expect(bool condition) {
    if (!condition) {
      good_ = false;
      rest_ = {};
    }
  }

  void value() {
    if (take('{')) {
      list('}', [this] {
        string();
        expect(take(':'));
        value();
      });
    } else if (take('[')) {
      list(']', [this] { value(); });
    } else if (!rest_.empty() && rest_.front() == '"') {
      string();
    } else {
      const size_t length = rest_.find_first_not_of("0123456789.");
      expect(length > 0 && length != std::string_view::npos);
      rest_.remove_prefix(good_ ? length : 0);
    }
  }
  template <class F>
  void list(char end, F element) {
    if (take(end)) {
      return;
    }
    do {
      element();
    } while (good_ && take(','));
    expect(take(end));
  }
  void string() {
    expect(take('"'));
    while (good_ && !rest_.empty() && rest_.front() != '"') {
      expect(static_cast<unsigned char>(rest_.front()) >= 0x20);
      if (good_ && rest_.front() == '\\') {
        rest_.remove_prefix(1);
        expect(!rest_.empty() && std::strchr("\"\\u", rest_.front()) != nullptr);
      }
      rest_.remove_prefix(good_ ? 1 : 0);
    }
    expect(take('"'));
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace weft::tests
