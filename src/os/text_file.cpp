// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/text_file.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <system_error>

namespace weft::inline v0_1::detail {
namespace {

// Takes a number from the beginning of `text`. Returns: whether there is one that fits.
bool takeNumber(std::string_view& text, uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc();
}

}  // namespace

std::string readFile(const std::string& path, size_t most) {
  std::string text;
  if (std::FILE* file = std::fopen(path.c_str(), "re"); file != nullptr) {
    char buffer[4096];
    for (size_t n = 0; (n = std::fread(buffer, 1, std::min(sizeof(buffer), most - text.size()), file)) > 0;) {
      text.append(buffer, n);
    }
    std::fclose(file);
  }
  return text;
}

std::string_view cut(std::string_view& text, std::string_view separator) {
  const size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + separator.size());
  return part;
}

long long leadingNumber(std::string_view text) {
  long long number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

NumberList::NumberList(std::string_view text, uint32_t end) {
  text = cut(text, "\n");
  // Ranges that ascend are at most `end`, whatever the file has.
  for (uint64_t least = 0; !text.empty();) {
    std::string_view part = cut(text, ",");
    uint32_t first = 0;
    bool isRange = takeNumber(part, first);
    uint32_t last = first;
    if (isRange && part.starts_with('-')) {
      part.remove_prefix(1);
      isRange = takeNumber(part, last);
    }
    if (!isRange || !part.empty() || first < least || last < first) {
      ranges_.clear();
      return;
    }
    if (first < end) {
      ranges_.emplace_back(first, std::min(last, end - 1));
    }
    least = uint64_t{last} + 1;
  }
}

bool NumberList::contains(uint32_t number) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), number,
                                      [](uint32_t value, const auto& range) { return value < range.first; });
  return after != ranges_.begin() && number <= std::prev(after)->second;
}

}  // namespace weft::inline v0_1::detail
