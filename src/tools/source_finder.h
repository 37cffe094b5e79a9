// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tools/addr2line.h"
#include "tools/module_files.h"

namespace weft::inline v0_1::detail::tools {

// Whether a line is the user's own, and neither of a header of weft's nor of the standard library's.
bool isOfUser(const SourceLine& line);

// Finds the lines of sources that belong to addresses of code.
class SourceFinder {
 public:
  // Returns: what is at the address, the innermost function first.
  SourceLines find(const ModuleFile& module, uint64_t address);

  // Returns: the callable that a task runs, and its first line. `entry` is the task's code, a function of
  // weft's headers, which calls the callable or has it inlined.
  SourceLine findTask(const ModuleFile& module, uint64_t entry);

 private:
  Addr2line& of(const ModuleFile& module);
  SourceLine findInlined(const ModuleFile& module, uint64_t entry, const SourceLine& node, uint64_t& end);
  SourceLine findCalled(const ModuleFile& module, uint64_t entry, uint64_t end);

  std::map<const ModuleFile*, Addr2line> children_;
};

}  // namespace weft::inline v0_1::detail::tools
