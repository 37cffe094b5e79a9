// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string_view>

namespace weft::inline v0_1::detail::inspect {

// What the system puts behind the path of a file that is gone, in /proc/PID/maps and in links such as
// /proc/PID/exe.
inline constexpr std::string_view kDeletedMark = " (deleted)";

// Returns: the path without the mark.
inline std::string_view withoutDeletedMark(std::string_view path) {
  return path.substr(0, path.size() - (path.ends_with(kDeletedMark) ? kDeletedMark.size() : 0));
}

// "/proc/PID/name", made without malloc.
class ProcPath {
 public:
  // Requires: `name` has at most 63 bytes.
  ProcPath(int processId, std::string_view name) {
    char digits[12];
    size_t count = 0;
    auto value = static_cast<unsigned>(processId);
    do {
      digits[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    append("/proc/");
    while (count != 0) {
      text_[size_++] = digits[--count];
    }
    append("/");
    append(name);
  }

  const char* text() const { return text_; }
  std::string_view view() const { return {text_, size_}; }

 private:
  void append(std::string_view part) { size_ += part.copy(text_ + size_, sizeof text_ - 1 - size_); }

  char text_[96] = {};
  size_t size_ = 0;
};

}  // namespace weft::inline v0_1::detail::inspect
