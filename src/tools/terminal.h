// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace weft::inline v0_1::detail::tools {

// The standard output, as a view that is shown again and again. On a terminal it replaces what it showed
// before, otherwise it appends.
class View {
 public:
  View();

  bool isTerminal() const { return isTerminal_; }
  size_t mostLines() const;  // that fit
  void show(const std::vector<std::string>& lines);

 private:
  bool isTerminal_;
  bool isFirst_ = true;
};

// Waits between two looks at a process.
class LookTimer {
 public:
  // `takesSignals`: signals that end the program, or tell of a new size of the terminal, end a wait only.
  LookTimer(int processId, bool takesSignals);
  ~LookTimer();
  LookTimer(const LookTimer&) = delete;
  LookTimer& operator=(const LookTimer&) = delete;

  enum class End { Time, Process, NewSize, Interrupt };
  // Returns: why the wait ended. Process: it has ended.
  End waitUntil(std::chrono::steady_clock::time_point deadline);

 private:
  int process_;  // descriptors, or -1
  int signals_ = -1;
};

}  // namespace weft::inline v0_1::detail::tools
