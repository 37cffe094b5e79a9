// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <string>
#include <string_view>

#include "tools/code_text.h"
#include "tools/module_files.h"
#include "tools/source_finder.h"

namespace weft::inline v0_1::detail::tools {

// Puts the lines of sources behind the places in code that a report names.
class Symbolizer {
 public:
  explicit Symbolizer(ModuleFiles& modules) : modules_(modules) {}

  // Returns: the line, without a newline at its end, with further lines for functions that are inlined.
  std::string explain(std::string_view line);

 private:
  struct Found {
    std::string behind;   // the place, in its line
    std::string further;  // lines
  };
  void noteProgram(std::string_view line);
  Found explainPlace(std::string_view line, const CodeText& place);
  void hint(std::string_view module, const char* before, const char* after);

  ModuleFiles& modules_;
  SourceFinder sources_;
  std::set<std::string, std::less<>> hinted_;
};

}  // namespace weft::inline v0_1::detail::tools
