// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/symbolizer.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace weft::inline v0_1::detail::tools {
namespace {

// Returns: the file and the line, from the current folder on if the file lies in it.
std::string textOf(const SourceLine& line) {
  if (line.file.empty()) {
    return {};
  }
  std::error_code error;
  std::string file = std::filesystem::path(line.file).lexically_normal().string();
  const std::string here = std::filesystem::current_path(error).string() + "/";
  if (file.starts_with(here)) {
    file.erase(0, here.size());
  }
  return " " + file + (line.line.empty() ? "" : ":" + line.line);
}

}  // namespace

// The first line of a dump is "weft: process 4711, /path/of/the/program: 1 scheduler, ...".
void Symbolizer::noteProgram(std::string_view line) {
  const size_t begin = line.find(", /");
  const size_t end = line.find(": ", std::min(begin, line.size()));
  if (line.starts_with("weft: process ") && end != line.npos) {
    modules_.addHint(std::string(line.substr(begin + 2, end - begin - 2)));
  }
}

std::string Symbolizer::explain(std::string_view line) {
  noteProgram(line);
  std::string text, further;
  size_t copied = 0;
  for (const CodeText& place : findCode(line)) {
    const Found found = explainPlace(line, place);
    text.append(line.substr(copied, place.end - copied)).append(found.behind);
    further.append(found.further);
    copied = place.end;
  }
  return text.append(line.substr(copied)).append(further);
}

Symbolizer::Found Symbolizer::explainPlace(std::string_view line, const CodeText& place) {
  const ModuleFile* module = modules_.find(place.module);
  if (module == nullptr) {
    hint(place.module, "the file of ",
         " is not found: name it by --binary PATH, or the process by --pid PID");
    return {};
  }
  const uint64_t address = module->addressOf(place.offset);
  SourceLines at;
  if (place.isTask) {
    at.push_back(sources_.findTask(*module, address));
  } else {
    at = sources_.find(*module, address);
  }
  if (at.empty() || at[0].line.empty()) {
    hint(place.module, "", " has no line numbers: compile it with -g");
  }
  if (at.empty()) {
    return {};
  }
  const SourceLine& innermost = at[0];
  const std::string_view name = innermost.function;
  const bool isNamed = line.substr(0, place.end).find(name) != line.npos && at.size() == 1;
  Found found;
  if (!isNamed && !name.empty() && name != "??") {
    found.behind.append(" ").append(name);
  }
  found.behind += textOf(innermost);
  const std::string indent(std::min(line.find_first_not_of(' '), line.size()) + 4, ' ');
  for (const SourceLine& outer : std::span(at).subspan(1)) {
    found.further.append("\n")
        .append(indent)
        .append("inlined into ")
        .append(outer.function)
        .append(textOf(outer));
  }
  return found;
}

void Symbolizer::hint(std::string_view module, const char* before, const char* after) {
  // Of the system's libraries nobody expects lines.
  if (!module.starts_with('[') && module.find(".so") == module.npos && hinted_.emplace(module).second) {
    std::fprintf(stderr, "weft: %s%.*s%s\n", before, static_cast<int>(module.size()), module.data(), after);
  }
}

}  // namespace weft::inline v0_1::detail::tools
