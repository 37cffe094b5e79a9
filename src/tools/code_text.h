// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0_1::detail::tools {

// A place in code as a report names it: "(program+0x3412)", "/path/program+0x3412".
struct CodeText {
  size_t end;  // in the line, behind the place
  std::string_view module;
  uint64_t offset;
  bool isTask;  // the place is the entry of a task's code, and not of a call
};

// Finds the places in a line of what weft prints. All of them name a call, not where the call returns to: the
// reports take one off a return address.
std::vector<CodeText> findCode(std::string_view line);

// Returns: what the task does, of the name of its code: "main::{lambda()#1}" of
// "weft::v0_1::detail::FunctionNode<main::{lambda()#1}>::invokeTask(...)". Empty if the name is none of a
// task's.
std::string_view callableOf(std::string_view function);

}  // namespace weft::inline v0_1::detail::tools
