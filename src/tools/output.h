// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "inspect/text.h"
#include "tools/module_files.h"
#include "tools/symbolizer.h"

namespace weft::inline v0_1::detail::tools {

// Writes all of the text to the standard output. Throws Failure if that is refused.
void writeOutput(std::string_view text);
// Throws Failure: that the file of the option -o cannot be written. `error`: an errno value.
[[noreturn]] void failToWrite(const std::string& path, int error, const char* command);
// Writes what was printed to stdout. Throws Failure if that is refused.
void flushOutput();

// Returns: what `write` writes to its Text.
template <class Write>
std::string textOf(const Write& write) {
  std::string text;
  inspect::Text out(&inspect::appendTo, &text);
  write(out);
  out.flush();
  return text;
}

// Writes text to the standard output, with the lines of sources behind the places in code. Without addr2line
// it says so once, and writes the text as it is.
class SymbolizedOutput {
 public:
  explicit SymbolizedOutput(ModuleFiles& modules) : symbolizer_(modules) {}

  void write(std::string_view text);  // passes on each line as soon as it is whole
  void finish();                      // passes on a last line without an end, and tells of what had no lines
  bool hasFailed() const { return hasFailed_; }

 private:
  std::string explain(std::string_view line);

  Symbolizer symbolizer_;
  std::string text_;
  bool hasFailed_ = false;
};

}  // namespace weft::inline v0_1::detail::tools
