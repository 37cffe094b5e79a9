// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "inspect/recording.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {

// What a thread is called in a timeline.
class ThreadLabel {
 public:
  explicit ThreadLabel(const Recording::Thread& thread) : thread_(thread) {}

  // `worker`: the operand of ThreadBound. The first one counts.
  void setWorker(uint64_t worker) { worker_ = worker_.value_or(worker); }
  // `name`: which the program has given the thread. It outlives the label.
  void setName(std::string_view name) { name_ = name; }

  // "worker 3", "bound thread 4711", "thread 4711"
  void write(Text& out) const;
  // That in parentheses after a name that the program has given, and whether the thread has ended.
  void writeInFull(Text& out) const;

 private:
  const Recording::Thread& thread_;
  std::optional<uint64_t> worker_;
  std::string_view name_;
};

}  // namespace weft::inline v0_1::detail::inspect
