// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::inline v0_1::detail::tools {

// What binutils' addr2line says of an address: a function, and a line of it.
struct SourceLine {
  std::string function;  // "??": not known
  std::string file;      // empty: not known
  std::string line;      // empty: not known
};

// The functions at an address: the innermost first, each inlined into the next.
using SourceLines = std::vector<SourceLine>;

// A child process `addr2line` for one file, which answers until the object is destroyed.
class Addr2line {
 public:
  // Throws Failure if there is no addr2line.
  explicit Addr2line(const std::string& file);
  ~Addr2line();
  Addr2line(const Addr2line&) = delete;
  Addr2line& operator=(const Addr2line&) = delete;

  // Returns: what is at each of the addresses, at most kMost. Empty from the first on that it gives no answer
  // for, as when the file is none that it can read.
  static constexpr size_t kMost = 64;
  std::vector<SourceLines> ask(std::span<const uint64_t> addresses);

 private:
  bool readLine(std::string& line);

  pid_t child_ = 0;
  int socket_ = -1;  // the child's standard input and output
  std::string received_;
};

}  // namespace weft::inline v0_1::detail::tools
