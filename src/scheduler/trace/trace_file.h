// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::inline v0_1::detail {

// The files of one path, numbered as trace::Config::path says.
class TraceFile {
 public:
  static constexpr uint32_t kMost = 8;
  static constexpr size_t kLongestPath = PATH_MAX - 16;  // leaves room for a number

  // Returns: the only object for that path. It lives as long as the process. Any thread.
  // Requires: the path is not empty, and no longer than kLongestPath.
  static TraceFile& of(const char* path);

  // Writes the path of the next file. `isLast`: the process ends. That file has a number of its own, since a
  // thread may be about to write the one before.
  void nextPath(bool isLast, char (&path)[PATH_MAX]) noexcept;

 private:
  explicit TraceFile(const char* path) : path_(path) {}

  const std::string path_;
  std::atomic<uint32_t> numAsked_{0};  // relaxed: it publishes nothing
};

}  // namespace weft::inline v0_1::detail
