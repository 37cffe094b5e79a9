// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/demangle.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "inspect/demangler.h"
#include "inspect/images.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr std::string_view kVersion = "v0_1::";
// Around the callable of a fair::Task.
constexpr std::string_view kStep = "weft::v0_1::detail::FairCallable<";
constexpr std::string_view kStepEnd = ", weft::v0_1::fair::Task, ";

constexpr std::string_view kWrappers[] = {"weft::v0_1::detail::FunctionNode<",
                                          "weft::v0_1::detail::TaskGroupCore::GroupTask<"};
constexpr std::string_view kWrapperEnd = ">::invoke";
constexpr std::string_view kWrapperArguments = "(weft::v0_1::detail::TaskNode*, weft::v0_1::detail::TaskOp)";

bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

// Skips the names of a mangled nested name, each with its length before it.
void skipNames(std::string_view& text) {
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    size_t size = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9' && size < text.size()) {
      size = 10 * size + static_cast<size_t>(text.front() - '0');
      text.remove_prefix(1);
    }
    text.remove_prefix(std::min(size, text.size()));
  }
}

void skipAny(std::string_view& text, std::string_view letters) {
  text.remove_prefix(std::min(text.find_first_not_of(letters), text.size()));
}

// Returns: whether the mangled argument of a template is a type of weft's, and no template, which may hold a
// type of the user's. There S0_ and S1_ stand for weft::v0_1 and weft::v0_1::detail.
bool isTypeOfWeft(std::string_view type) {
  skipAny(type, "ZNKVRO");
  if (!skip(type, "S0_") && !skip(type, "S1_")) {
    return false;
  }
  skipNames(type);
  return !type.starts_with('I');
}

// Returns: whether it calls a task of the user's, which may be inlined there. `name`: mangled, after
// weft::v0_1. Such a function has the type of TaskNode::invoke, and is a member of a template.
bool isWrapper(std::string_view name) {
  if (name.find("8TaskNodeE") == std::string_view::npos || name.find("6TaskOpE") == std::string_view::npos) {
    return false;
  }
  skipNames(name);
  return skip(name, "I") && !isTypeOfWeft(name);
}

// A name without the inline namespace of weft, and without what weft wraps around a task.
class ShortName {
 public:
  explicit ShortName(std::string_view mangled) {
    const std::string_view name = demangler_.demangle(mangled);
    const size_t size = shortenName(name, text_, sizeof text_);
    view_ = name.empty() ? mangled : std::string_view(text_, size);
    isCut_ = size == sizeof text_;
  }

  std::string_view view() const { return view_; }
  bool isCut() const { return isCut_; }

 private:
  Demangler demangler_;
  char text_[kMostName];
  std::string_view view_;
  bool isCut_;
};

}  // namespace

void writeFunction(Text& out, std::string_view mangled) {
  const ShortName name(mangled);
  out << name.view() << (name.isCut() ? "..." : "");
}

void writeOwnFunction(Text& out, std::string_view mangled) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  const ShortName whole(mangled);
  std::string_view name = whole.view();
  int depth = 0;
  while (!name.empty()) {
    if (depth == 0 && name.starts_with(kUnnamed)) {
      out << kUnnamed;
      name.remove_prefix(kUnnamed.size());
      continue;
    }
    if (depth == 0 && name.starts_with("operator")) {
      out << name.substr(0, name.find('(', name.starts_with("operator()") ? 10 : 0));
      return;
    }
    const char c = name.front();
    name.remove_prefix(1);
    depth -= c == '>' || c == ')' ? 1 : 0;
    if (depth == 0 && c == ' ') {
      return;
    }
    if (depth == 0 && c != '<' && c != '(' && c != '>' && c != ')') {
      out << c;
    }
    depth += c == '<' || c == '(' ? 1 : 0;
  }
}

size_t shortenName(std::string_view name, char* to, size_t size) {
  for (const std::string_view wrapper : kWrappers) {
    const size_t end = name.rfind(kWrapperEnd);
    if (name.starts_with(wrapper) && end != std::string_view::npos && end >= wrapper.size() &&
        name.substr(end).find(kWrapperArguments) != std::string_view::npos) {
      name = name.substr(wrapper.size(), end - wrapper.size());
    }
  }
  if (const size_t end = name.rfind(kStepEnd); name.starts_with(kStep) && end != std::string_view::npos) {
    name = name.substr(kStep.size(), end - kStep.size());
  }
  size_t used = 0;
  while (!name.empty() && used < size) {
    if (name.starts_with("weft::") && name.substr(6).starts_with(kVersion)) {
      const size_t fits = std::min<size_t>(6, size - used);
      std::memmove(to + used, name.data(), fits);
      used += fits;
      name.remove_prefix(6 + kVersion.size());
    } else {
      to[used++] = name.front();
      name.remove_prefix(1);
    }
  }
  return used;
}

bool isOfWeft(const CodePlace& place) {
  std::string_view name = place.function;
  if (name.starts_with("weft_")) {
    for (const std::string_view own :
         {"weft_fiber_switch", "weft_fiber_call", "weft_fiber_base", "weft_run_task", "weft_call_watched"}) {
      if (name == own) {
        return true;
      }
    }
    return false;
  }
  if (!skip(name, "_Z")) {
    return false;
  }
  while (skip(name, "Z")) {  // within a function
  }
  if (!skip(name, "N")) {
    return false;
  }
  skipAny(name, "KVRO");
  return skip(name, "4weft4v0_1") && !isWrapper(name);
}

}  // namespace weft::inline v0_1::detail::inspect
