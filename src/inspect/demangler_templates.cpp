// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/demangler.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "inspect/demangler_inl.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr Code kStandard[] = {
    {"Sa", "std::allocator"}, {"Sb", "std::basic_string"}, {"Ss", "std::string"},
    {"Si", "std::istream"},   {"So", "std::ostream"},      {"Sd", "std::iostream"},
};

}  // namespace

std::string_view Demangler::templateArguments(bool isEncoding) {
  const Nesting nesting(*this);
  take('I');
  const std::string_view name = lastName_;
  const size_t begin = endParameters_;
  std::string_view text = "<";
  bool isFirst = true;
  while (isOk_ && !take('E')) {
    const size_t firstPacked = numPacked_;
    const bool isPack = peek() == 'J';
    const std::string_view argument = templateArgument();
    if (isEncoding) {
      if (endParameters_ == kParameters) {
        fail();
        return {};
      }
      parameters_[endParameters_++] = {argument, isPack, firstPacked, numPacked_ - firstPacked};
    } else {
      numPacked_ = firstPacked;
    }
    if (!argument.empty()) {
      text = join(text, std::string_view(isFirst ? "" : ", "), argument);
      isFirst = false;
    }
  }
  if (isEncoding) {
    firstParameter_ = begin;
  }
  lastName_ = name;
  return join(text, std::string_view(text.ends_with('>') ? " >" : ">"));
}

std::string_view Demangler::templateArgument() {
  const Nesting nesting(*this);
  if (!isOk_) {
    return {};
  }
  if (peek() == 'L') {
    return literal();
  }
  if (take('J')) {
    std::string_view text;
    while (isOk_ && !take('E')) {
      const size_t before = numPacked_;
      const std::string_view argument = templateArgument();
      numPacked_ = before;
      if (numPacked_ == kParameters) {
        fail();
        return {};
      }
      packs_[numPacked_++] = argument;
      text = text.empty() ? argument : join(text, std::string_view(", "), argument);
    }
    return text;
  }
  return whole(type(), *this);
}

std::string_view Demangler::literal() {
  take('L');
  if (take("_Z")) {
    const size_t first = firstParameter_;
    const size_t end = endParameters_;
    const std::string_view function = encoding();
    if (!take('E')) {
      fail();
    }
    firstParameter_ = first;
    endParameters_ = end;
    return join(std::string_view("&"), function);
  }
  const char kind = peek();
  const std::string_view type = whole(this->type(), *this);
  const std::string_view sign = take('n') ? "-" : "";
  const std::string_view digits = left_.substr(0, left_.find('E'));
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), isDigit)) {
    fail();
    return {};
  }
  left_.remove_prefix(digits.size());
  take('E');
  switch (kind) {
    case 'b':
      return digits == "0" ? "false" : "true";
    case 'i':
      return join(sign, digits);
    case 'j':
      return join(sign, digits, std::string_view("u"));
    case 'l':
      return join(sign, digits, std::string_view("l"));
    case 'm':
      return join(sign, digits, std::string_view("ul"));
    default:
      return join(std::string_view("("), type, std::string_view(")"), sign, digits);
  }
}

// Reads its pattern again for each element of the pack.
Demangler::Type Demangler::packExpansion() {
  const std::string_view pattern = left_;
  const size_t outer = std::exchange(expanded_, 0);
  packCount_ = 1;
  std::string_view text = whole(type(), *this);
  const size_t count = packCount_;
  const std::string_view after = left_;
  const size_t numSubstitutions = numSubstitutions_;
  for (expanded_ = 1; isOk_ && expanded_ < count; ++expanded_) {
    left_ = pattern;
    text = join(text, std::string_view(", "), whole(type(), *this));
    numSubstitutions_ = numSubstitutions;
  }
  expanded_ = outer;
  left_ = after;
  return {count != 0 ? text : std::string_view(), {}};
}

Demangler::Type Demangler::templateParameter() {
  take('T');
  const uint64_t index = sequence(10);
  return meaningOf(static_cast<size_t>(index) + 1);
}

Demangler::Type Demangler::meaningOf(size_t parameter) {
  if (numLambdas_ != 0) {
    return {"auto", {}, parameter};
  }
  if (parameter > endParameters_ - firstParameter_) {
    fail();
    return {};
  }
  const Parameter& found = parameters_[firstParameter_ + parameter - 1];
  if (!found.isPack) {
    return {found.text, {}, parameter};
  }
  packCount_ = found.count;
  return {expanded_ < found.count ? packs_[found.first + expanded_] : std::string_view(), {}, parameter};
}

Demangler::Type Demangler::substitution() {
  if (const std::string_view text = standard(); !text.empty()) {
    lastName_ = text.substr(5);
    return {text, {}, 0};
  }
  take('S');
  const uint64_t index = sequence(36);
  if (index >= numSubstitutions_) {
    fail();
    return {};
  }
  const Type& found = substitutions_[index];
  // In a function around a local type it may have meant another template's.
  return found.parameter != 0 ? meaningOf(found.parameter) : found;
}

std::string_view Demangler::standard() {
  for (const Code& code : kStandard) {
    if (take(code.code)) {
      return code.text;
    }
  }
  return {};
}

Demangler::Type Demangler::remember(const Type& type) {
  if (numSubstitutions_ == kSubstitutions) {
    fail();
  } else {
    substitutions_[numSubstitutions_++] = type;
  }
  return type;
}

}  // namespace weft::inline v0_1::detail::inspect
