// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text_counter.h"

namespace treestat {

// What a tree holds besides directories and plain files, and what went wrong.
enum class Oddity { Link, BrokenLink, LinkLoop, Special, Vanished, Shrunk, Unreadable };
constexpr size_t kNumOddities = 7;

struct SizedFile {
  uint64_t bytes;
  std::string path;
};

// The files of one type.
struct Type {
  uint64_t files = 0;
  Text text;
  std::vector<SizedFile> largest;  // the largest first, those of one size by their paths

  void addLargest(SizedFile file, size_t top);
  void add(const Type& other, size_t top);
};

// What has been counted: in the whole tree, or by one task, which adds it to the whole when it ends.
struct Tally {
  uint64_t directories = 0;
  std::array<uint64_t, kNumOddities> oddities{};
  std::map<std::string, Type, std::less<>> types;

  uint64_t& of(Oddity oddity) { return oddities[static_cast<size_t>(oddity)]; }
  uint64_t of(Oddity oddity) const { return oddities[static_cast<size_t>(oddity)]; }
  void add(const Tally& other, size_t top);
  Type total() const;
};

// Returns: the type of the file `name`: what follows its last dot, if that is short and of letters, digits
// and plus signs, with a letter among them; else "(none)".
std::string_view typeOf(std::string_view name);

// Write `tally` to standard output: totals, and print() then a table of types.
void printTotals(const Tally& tally);
void print(const Tally& tally);

// Returns: `path` in one line that does a terminal no harm: what the locale cannot print, in octal.
std::string printable(std::string_view path);

}  // namespace treestat
