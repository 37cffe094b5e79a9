// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/code_text.h"

#include <charconv>

namespace weft::inline v0_1::detail::tools {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

// Returns: where the bare name before `plus` begins: behind a blank, a comma or a bracket.
size_t beginOfBareName(std::string_view line, size_t plus) {
  const size_t before = line.find_last_of(" ,;()[]\t", plus == 0 ? 0 : plus - 1);
  return before == line.npos ? 0 : before + 1;
}

// Whether the text before a name says that a module is named. Else the name is a function's, as in
// "serve+0x12", unless it has a folder.
bool announcesModule(std::string_view before) { return before.find("called from ") != before.npos; }

bool announcesTask(std::string_view before) {
  const size_t thrown = before.rfind("thrown at ");  // behind "an exception escaped from a task: "
  before.remove_prefix(thrown == before.npos ? 0 : thrown);
  return before.find("task ") != before.npos || before.find("task: ") != before.npos;
}

}  // namespace

std::vector<CodeText> findCode(std::string_view line) {
  std::vector<CodeText> found;
  size_t lastEnd = 0;
  for (size_t plus = line.find("+0x"); plus != line.npos; plus = line.find("+0x", plus + 3)) {
    size_t end = line.find_first_not_of(kHex, plus + 3);
    end = end == line.npos ? line.size() : end;
    uint64_t offset = 0;
    if (std::from_chars(line.data() + plus + 3, line.data() + end, offset, 16).ec != std::errc()) {
      continue;
    }
    const bool isInBrackets = end < line.size() && line[end] == ')';
    const size_t bracket = isInBrackets ? line.rfind('(', plus) : line.npos;
    const size_t begin = isInBrackets ? bracket + 1 : beginOfBareName(line, plus);
    if (bracket == line.npos && isInBrackets) {
      continue;
    }
    const std::string_view module = line.substr(begin, plus - begin);
    const std::string_view before = line.substr(lastEnd, begin - lastEnd);
    const bool isNamed = isInBrackets || module.find('/') != module.npos || announcesModule(before) ||
                         announcesModule(line.substr(0, begin));
    const bool isFunction = line.substr(end).starts_with(" (");
    if (!module.empty() && isNamed && (isInBrackets || !isFunction)) {
      lastEnd = end + (isInBrackets ? 1 : 0);
      found.push_back({lastEnd, module, offset, announcesTask(before)});
    }
  }
  return found;
}

std::string_view callableOf(std::string_view function) {
  constexpr std::string_view kNode = "FunctionNode<", kEntry = ">::invokeTask(";
  const size_t begin = function.find(kNode);
  const size_t end = function.rfind(kEntry);
  if (begin == function.npos || end == function.npos || begin + kNode.size() > end) {
    return {};
  }
  return function.substr(begin + kNode.size(), end - begin - kNode.size());
}

}  // namespace weft::inline v0_1::detail::tools
