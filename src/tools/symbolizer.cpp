// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/symbolizer.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>

#include "inspect/demangle.h"
#include "inspect/json_text.h"

namespace weft::inline v0_1::detail::tools {
namespace {

// Returns: the file and the line, from the current folder on if the file lies in it.
std::string lineText(const SourceLine& line) {
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

// Returns: the name of a function as reports have it.
std::string shortened(std::string name) {
  name.resize(inspect::shortenName(name, name.data(), name.size()));
  if (name.size() >= inspect::kMostName) {
    name.resize(inspect::kMostName);
    name += "...";
  }
  return name;
}

// Returns: further lines, for the functions into which a call is inlined.
std::string textOfOuter(std::span<const SourceLine> outer, size_t indent) {
  std::string text;
  for (const SourceLine& each : outer) {
    text.append("\n").append(indent, ' ').append("inlined into ");
    text.append(shortened(each.function)).append(lineText(each));
  }
  return text;
}

// Whether the line tells of one call, as in "    #1 0x5581 serve(int)+0x12 (server+0x3412)".
bool isOfListOfCalls(std::string_view line, const CodeText& place) {
  return (line.starts_with(' ') || line.starts_with('#')) && place.end == line.size() && line.ends_with(')');
}

// Whether a function is weft's own, whose lines say nothing of how the user's code was compiled.
bool isWefts(const std::string& function) {
  return function.starts_with("weft::v0_1::") || function.starts_with("weft_");
}

// Returns: the text as it stands in a JSON string.
std::string insideOfJson(std::string_view text) {
  std::string result;
  inspect::JsonPieces pieces(text);
  for (std::string_view piece; !(piece = pieces.next()).empty();) {
    result.append(piece);
  }
  return result;
}

// Of the system's libraries nobody expects lines.
bool isExpectedToHaveLines(std::string_view module) {
  return !module.starts_with('[') && module.find(".so") == module.npos;
}

}  // namespace

// The first line of a dump is "weft: process 4711, /path/of/the/program: 1 scheduler, ...".
void Symbolizer::noteProgram(std::string_view line) {
  const size_t begin = line.find(", /");
  if (begin == line.npos) {
    return;
  }
  const size_t end = line.find(": ", begin);
  if (line.starts_with("weft: process ") && end != line.npos) {
    modules_.addHint(std::string(line.substr(begin + 2, end - begin - 2)));
  } else if (line.starts_with("  process ")) {  // of the report of an overflow
    modules_.addHint(std::string(line.substr(begin + 2)));
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
  const auto [lines, isNew] = lines_.try_emplace(std::string(place.module), Lines::NotAsked);
  const ModuleFile* module = modules_.find(place.module);
  if (module == nullptr) {
    if (isNew && isExpectedToHaveLines(place.module) && !modules_.isRefused(place.module)) {
      std::fprintf(
          stderr,
          "weft: the file of %s is not found: name it by --binary PATH, or the process by --pid PID\n",
          lines->first.c_str());
    }
    return {};
  }
  const uint64_t address = module->addressOf(place.offset);
  const bool isCall = !place.isTask && isOfListOfCalls(line, place);
  const std::optional<SourceLine> task = isCall ? std::nullopt : taskAt(*module, address, place.isTask);
  const SourceLines at = task ? SourceLines{*task} : sources_.find(*module, address);
  const auto own = std::ranges::find_if(at, isOfUser);
  const SourceLine told = at.empty()                  ? SourceLine{"??", {}, {}}
                          : isCall || own == at.end() ? at.front()
                                                      : *own;
  if (!told.line.empty() && !isWefts(told.function)) {
    lines->second = Lines::Some;
  } else if (told.line.empty() && lines->second == Lines::NotAsked) {
    lines->second = Lines::None;
  }
  Found found;
  const std::string name = shortened(told.function);
  const bool isNamed = line.substr(0, place.end).find(name) != line.npos;
  if (name != "??" && name != "operator()" && !isNamed) {
    found.behind.append(" ").append(name);
  }
  found.behind += lineText(told);
  if (line.substr(place.end).starts_with('"')) {
    found.behind = insideOfJson(found.behind);
  }
  if (isCall && !at.empty()) {
    found.further = textOfOuter(std::span(at).subspan(1), line.find_first_not_of(' ') + 4);
  }
  return found;
}

// Returns: whether a task's code begins there. The address before the begin of a function is not in it.
bool Symbolizer::isEntryOfTask(const ModuleFile& module, uint64_t address) {
  const SourceLines at = sources_.find(module, address);
  if (at.empty() || address == 0 || callableOf(at.back().function).empty()) {
    return false;
  }
  const SourceLines before = sources_.find(module, address - 1);
  return before.empty() || before.back().function != at.back().function;
}

// Returns: nothing, if the place is no task's code.
const std::optional<SourceLine>& Symbolizer::taskAt(const ModuleFile& module, uint64_t address,
                                                    bool isAnnounced) {
  const auto [task, isNew] = tasks_.try_emplace({&module, address});
  if ((isNew || (isAnnounced && !task->second)) && (isAnnounced || isEntryOfTask(module, address))) {
    task->second = sources_.findTask(module, address);
  }
  return task->second;
}

void Symbolizer::finish() {
  for (const auto& [module, lines] : lines_) {
    if (lines == Lines::None && isExpectedToHaveLines(module)) {
      std::fprintf(stderr, "weft: %s has no line numbers: compile it with -g\n", module.c_str());
    }
  }
}

}  // namespace weft::inline v0_1::detail::tools
