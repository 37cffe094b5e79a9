// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The text files by which Linux tells about the process and the machine.
namespace weft::inline v0_1::detail {

// Returns: what the file has, up to `most` bytes; nothing where it cannot be read.
std::string readFile(const std::string& path, size_t most = SIZE_MAX);

// Removes the part of `text` before the first `separator`, and the separator. Returns: that part.
std::string_view cut(std::string_view& text, std::string_view separator);

// Returns: the number that `text` starts with, or -1 where there is none ("max" means: no limit).
long long leadingNumber(std::string_view text);

// A set of numbers as Linux writes them: "0-3,8,10-11", in ascending order.
class NumberList {
 public:
  // Leaves out numbers from `end` on. A text that is no such list gives an empty one.
  NumberList(std::string_view text, uint32_t end);

  bool empty() const { return ranges_.empty(); }
  bool contains(uint32_t number) const;
  // Requires: not empty.
  uint32_t lowest() const { return ranges_.front().first; }

  // Calls function(number) for each, in ascending order.
  template <class Function>
  void forEach(const Function& function) const {
    for (const auto& [first, last] : ranges_) {
      for (uint32_t number = first; number <= last; ++number) {
        function(number);
      }
    }
  }

 private:
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;  // first and last
};

}  // namespace weft::inline v0_1::detail
