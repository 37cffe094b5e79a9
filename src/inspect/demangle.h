// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string_view>

#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {

struct CodePlace;

// Writes the name of a function as its source has it, from the name that the compiler gave it: with its
// arguments, or if Demangler does not understand that name, as the compiler gave it. Leaves out the inline
// namespace of weft, and what weft wraps around a task: of FunctionNode<F>::invokeTask() it writes F.
void writeFunction(Text& out, std::string_view mangled);

// Writes the name of a function of weft's own, without its arguments, and without those of templates: they
// say nothing to the user.
void writeOwnFunction(Text& out, std::string_view mangled);

// A longer name of a function is cut, and gets "..." at its end.
inline constexpr size_t kMostName = 2048;

// What writeFunction() does to a name that is demangled already. Writes at most `size` bytes to `to`, which
// may be the name's own place. Returns: how many.
size_t shortenName(std::string_view name, char* to, size_t size);

// Returns: whether the function is weft's own, to be skipped in the backtrace of a task that waits. A wrapper
// of a task of the user's is not.
bool isOfWeft(const CodePlace& place);

}  // namespace weft::inline v0_1::detail::inspect
