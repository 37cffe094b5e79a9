// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "console.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "tally.h"

namespace treestat {
namespace {

constexpr uint64_t kMaxMessages = 20;

}  // namespace

Console::Console() : isTerminal_(isatty(STDERR_FILENO) != 0) {}

void Console::report(const std::string& path, const char* what) {
  // relaxed: a number alone.
  if (numMessages_.fetch_add(1, std::memory_order_relaxed) >= kMaxMessages) {
    return;
  }
  const std::lock_guard lock(mutex_);
  std::fprintf(stderr, "%streestat: %s: %s\n", clearLine(), printable(path).c_str(), what);
}

void Console::showProgress(uint64_t files, uint64_t bytes) {
  if (isTerminal_) {
    const std::lock_guard lock(mutex_);
    std::fprintf(stderr, "%s%" PRIu64 " files, %" PRIu64 " MB", clearLine(), files, bytes / 1'000'000);
  }
}

void Console::finish() {
  const std::lock_guard lock(mutex_);
  std::fputs(clearLine(), stderr);
  // relaxed: no task is left to change it.
  const uint64_t messages = numMessages_.load(std::memory_order_relaxed);
  if (messages > kMaxMessages) {
    std::fprintf(stderr, "treestat: %" PRIu64 " more messages are not shown\n", messages - kMaxMessages);
  }
}

}  // namespace treestat
