// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace treestat {

// Messages and the progress line on standard error. Any task may report at any time.
class Console {
 public:
  Console();

  // Writes a line, unless there were very many before.
  void report(const std::string& path, const char* what);

  // Shows the progress if standard error is a terminal.
  void showProgress(uint64_t files, uint64_t bytes);

  // Clears the progress, and tells how many messages were left out.
  void finish();

 private:
  const char* clearLine() const { return isTerminal_ ? "\r\033[K" : ""; }

  const bool isTerminal_;
  std::atomic<uint64_t> numMessages_{0};
  std::mutex mutex_;  // held while writing, which blocks the thread anyway
};

}  // namespace treestat
