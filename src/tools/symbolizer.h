// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/code_text.h"
#include "tools/module_files.h"
#include "tools/source_finder.h"

namespace weft::inline v0_1::detail::tools {

// Puts the lines of sources behind the places in code that a report names.
class Symbolizer {
 public:
  explicit Symbolizer(ModuleFiles& modules) : modules_(modules) {}

  // Returns: the line, without a newline at its end. A place in it gets one line of the source, the user's if
  // one is there. A call of a list of calls has further lines, for functions that are inlined.
  std::string explain(std::string_view line);

  // Tells on stderr of modules that have no line for any place in the user's code.
  void finish();

 private:
  struct Found {
    std::string behind;   // the place, in its line
    std::string further;  // lines
  };
  void noteProgram(std::string_view line);
  Found explainPlace(std::string_view line, const CodeText& place);
  bool isEntryOfTask(const ModuleFile& module, uint64_t address);
  const std::optional<SourceLine>& taskAt(const ModuleFile& module, uint64_t address, bool isAnnounced);

  ModuleFiles& modules_;
  SourceFinder sources_;
  // The tasks at places that need not be calls: a picture of a recording names each task very often.
  std::map<std::pair<const ModuleFile*, uint64_t>, std::optional<SourceLine>> tasks_;
  enum class Lines : uint8_t { NotAsked, None, Some };
  std::map<std::string, Lines> lines_;  // of the user's code, by the names of modules
};

}  // namespace weft::inline v0_1::detail::tools
