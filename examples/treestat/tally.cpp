// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tally.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cwchar>
#include <cwctype>
#include <utility>

namespace treestat {
namespace {

constexpr size_t kMaxTypesShown = 20;

constexpr std::array<const char*, kNumOddities> kOddityNames = {"links",    "broken", "loops",     "special",
                                                                "vanished", "shrunk", "unreadable"};

bool isBefore(const SizedFile& a, const SizedFile& b) {
  return a.bytes != b.bytes ? a.bytes > b.bytes : a.path < b.path;
}

void printRow(const std::string& name, const Type& type) {
  std::printf("%-12s %9" PRIu64 " %11" PRIu64 " %11" PRIu64 " %14" PRIu64 "\n", name.c_str(), type.files,
              type.text.lines, type.text.words, type.text.bytes);
}

// The types with the most bytes, each with its largest files, and the rest in one row.
void printTypes(const Tally& tally) {
  using Row = std::pair<std::string, const Type*>;
  std::vector<Row> types;
  for (const auto& [name, type] : tally.types) {
    types.emplace_back(name, &type);
  }
  std::sort(types.begin(), types.end(), [](const Row& a, const Row& b) {
    return a.second->text.bytes != b.second->text.bytes ? a.second->text.bytes > b.second->text.bytes
                                                        : a.first < b.first;
  });
  std::printf("\n%-12s %9s %11s %11s %14s\n", "type", "files", "lines", "words", "bytes");
  Type others;
  for (size_t i = 0; i < types.size(); ++i) {
    const Type& type = *types[i].second;
    if (i >= kMaxTypesShown) {
      others.add(type, 0);
      continue;
    }
    printRow(types[i].first, type);
    for (const SizedFile& file : type.largest) {
      std::printf("%61" PRIu64 "  %s\n", file.bytes, printable(file.path).c_str());
    }
  }
  if (types.size() > kMaxTypesShown) {
    printRow("(others)", others);
  }
}

}  // namespace

void Type::addLargest(SizedFile file, size_t top) {
  const auto place = std::lower_bound(largest.begin(), largest.end(), file, isBefore);
  if (place != largest.end() || largest.size() < top) {
    largest.insert(place, std::move(file));
    if (largest.size() > top) {
      largest.pop_back();
    }
  }
}

void Type::add(const Type& other, size_t top) {
  files += other.files;
  text.add(other.text);
  for (const SizedFile& file : other.largest) {
    addLargest(file, top);
  }
}

void Tally::add(const Tally& other, size_t top) {
  directories += other.directories;
  for (size_t i = 0; i < kNumOddities; ++i) {
    oddities[i] += other.oddities[i];
  }
  for (const auto& [name, type] : other.types) {
    types[name].add(type, top);
  }
}

Type Tally::total() const {
  Type total;
  for (const auto& [name, type] : types) {
    total.add(type, 0);
  }
  return total;
}

std::string_view typeOf(std::string_view name) {
  constexpr size_t kLongest = 12;
  auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  auto mayBePart = [=](char c) { return isLetter(c) || (c >= '0' && c <= '9') || c == '+'; };
  const size_t dot = name.rfind('.');
  const std::string_view type = dot == name.npos || dot == 0 ? "" : name.substr(dot + 1);
  const bool isType = type.size() <= kLongest && std::any_of(type.begin(), type.end(), isLetter) &&
                      std::all_of(type.begin(), type.end(), mayBePart);
  return isType ? type : "(none)";
}

void printTotals(const Tally& tally) {
  const Type total = tally.total();
  auto line = [](const char* name, uint64_t value) { std::printf("%-12s %14" PRIu64 "\n", name, value); };
  line("files", total.files);
  line("directories", tally.directories);
  line("lines", total.text.lines);
  line("words", total.text.words);
  line("bytes", total.text.bytes);
  for (size_t i = 0; i < kNumOddities; ++i) {
    line(kOddityNames[i], tally.oddities[i]);
  }
}

void print(const Tally& tally) {
  printTotals(tally);
  printTypes(tally);
}

std::string printable(std::string_view path) {
  std::string result;
  std::mbstate_t state{};
  for (size_t i = 0; i < path.size();) {
    wchar_t wide = 0;
    const size_t length = std::mbrtowc(&wide, &path[i], path.size() - i, &state);
    if (length >= 1 && length <= path.size() - i && wide != L'\\' &&
        std::iswprint(static_cast<wint_t>(wide)) != 0) {
      result += path.substr(i, length);
      i += length;
      continue;
    }
    state = {};
    char octal[8];
    std::snprintf(octal, sizeof octal, "\\%03o",
                  static_cast<unsigned>(static_cast<unsigned char>(path[i++])));
    result += octal;
  }
  return result;
}

}  // namespace treestat
