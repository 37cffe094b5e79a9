// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "inspect/names.h"
#include "inspect/snapshot.h"

namespace weft::inline v0_1::detail::tools {

// Adds up time by what was done in it: a state, a task, and a stack. Writes it as the tools for flame graphs
// want it, a line for each stack: its calls from the outermost on, with ";" between them, and a number.
class FoldedStacks {
 public:
  enum class State : uint8_t { Computes, InCall, OwnCall, Ready, Waits };  // OwnCall: in no task
  static const char* nameOf(State state);

  explicit FoldedStacks(inspect::Names& names) : names_(&names) {}

  // Has what was added so far told by the names of before, and what comes by these. Null: what comes is told
  // by the names that follow.
  void setNames(inspect::Names* names);

  // So long the state was that of the fiber, or of several like it.
  void add(State state, const inspect::Snapshot& snapshot, const inspect::Fiber& fiber,
           std::chrono::duration<double> time);

  bool isEmpty() const { return stacks_.empty() && lines_.empty(); }
  std::chrono::duration<double> total(State state) const { return totals_[static_cast<int>(state)]; }
  // Returns: the lines, by their names. The numbers are microseconds.
  std::string text() const;

 private:
  struct Stack {
    State state = State::Waits;
    inspect::Address task = 0;  // its code; 0: none
    std::string thread;         // where there is no task
    std::string what;           // for what it waits, or has waited; or what weft does
    bool isCut = false;         // the outermost calls are missing
    std::vector<inspect::Address> frames;

    auto operator<=>(const Stack&) const = default;
  };
  using Lines = std::map<std::string, std::chrono::duration<double>>;
  std::string nameOf(const Stack& stack) const;
  void addLines(Lines& lines) const;

  inspect::Names* names_;
  std::map<Stack, std::chrono::duration<double>> stacks_;
  Lines lines_;  // of stacks whose addresses had other names
  std::chrono::duration<double> totals_[5]{};
};

}  // namespace weft::inline v0_1::detail::tools
