// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/source_finder.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "os/call_target.h"
#include "os/registers.h"
#include "tools/code_text.h"

namespace weft::inline v0_1::detail::tools {
namespace {

bool isBefore(const SourceLine& a, const SourceLine& b) {
  return a.file == b.file && std::atol(a.line.c_str()) < std::atol(b.line.c_str());
}

}  // namespace

bool isOfUser(const SourceLine& line) {
  const std::string_view file = line.file;
  return !file.empty() && file.find("include/weft/") == file.npos && !file.starts_with("/usr/include/") &&
         !file.starts_with("/usr/lib/") && file.find("/include/c++/") == file.npos;
}

Addr2line& SourceFinder::of(const ModuleFile& module) {
  return children_.try_emplace(&module, module.path()).first->second;
}

SourceLines SourceFinder::find(const ModuleFile& module, uint64_t address) {
  return of(module).ask(std::span(&address, 1))[0];
}

SourceLine SourceFinder::findTask(const ModuleFile& module, uint64_t entry) {
  const SourceLines at = find(module, entry);
  if (at.empty()) {
    return {};
  }
  const SourceLine node = at.back();
  SourceLine found;
  if (!isOfUser(node)) {
    uint64_t end = entry;
    found = findInlined(module, entry, node, end);
    if (found.file.empty()) {
      found = findCalled(module, entry, end);
    }
  }
  if (found.file.empty()) {
    found = node;
  }
  // A lambda is called operator() there, which does not say whose.
  const std::string_view callable = callableOf(node.function);
  found.function = callable.empty() ? found.function : callable;
  return found;
}

// Returns: the first of the user's lines that are inlined into the function, as they stand in the source.
// `end` becomes an address behind the last one that is known to be of the entry's function.
SourceLine SourceFinder::findInlined(const ModuleFile& module, uint64_t entry, const SourceLine& node,
                                     uint64_t& end) {
  constexpr uint64_t kStep = 4;  // shorter than the code of most lines
  std::vector<uint64_t> addresses;
  for (uint64_t i = 0; i < Addr2line::kMost; ++i) {
    addresses.push_back(entry + i * kStep);
  }
  const std::vector<SourceLines> answers = of(module).ask(addresses);
  SourceLine first;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].empty() || answers[i].back().function != node.function) {
      break;
    }
    end = addresses[i] + kStep;
    const auto line = std::find_if(answers[i].rbegin(), answers[i].rend(), isOfUser);
    if (line != answers[i].rend() && (first.file.empty() || isBefore(*line, first))) {
      first = *line;
    }
  }
  return first;
}

// Looks at whom the function calls. What looks like a call, and is none, leads to no line of the user's, or
// into the middle of a function, which is passed over.
SourceLine SourceFinder::findCalled(const ModuleFile& module, uint64_t entry, uint64_t end) {
  constexpr unsigned kMachine = processor::kElfMachine;
  unsigned char code[256];
  const size_t size = module.read(entry, code, std::min<uint64_t>(sizeof code, end - entry));
  for (size_t i = 0; i < size; i += processor::alignmentOfCode(kMachine)) {
    const std::optional<uint64_t> target = processor::callTarget(kMachine, code + i, size - i, entry + i);
    if (!target) {
      continue;
    }
    const SourceLines at = find(module, *target);
    if (!at.empty() && isOfUser(at.back())) {
      return at.back();
    }
  }
  return {};
}

}  // namespace weft::inline v0_1::detail::tools
