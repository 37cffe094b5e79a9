// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/demangler.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inspect/demangler_inl.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr Code kOperators[] = {
    {"nw", " new"}, {"na", " new[]"}, {"dl", " delete"}, {"da", " delete[]"}, {"aw", " co_await"},
    {"ps", "+"},    {"ng", "-"},      {"ad", "&"},       {"de", "*"},         {"co", "~"},
    {"pl", "+"},    {"mi", "-"},      {"ml", "*"},       {"dv", "/"},         {"rm", "%"},
    {"an", "&"},    {"or", "|"},      {"eo", "^"},       {"aS", "="},         {"pL", "+="},
    {"mI", "-="},   {"mL", "*="},     {"dV", "/="},      {"rM", "%="},        {"aN", "&="},
    {"oR", "|="},   {"eO", "^="},     {"ls", "<<"},      {"rs", ">>"},        {"lS", "<<="},
    {"rS", ">>="},  {"eq", "=="},     {"ne", "!="},      {"lt", "<"},         {"gt", ">"},
    {"le", "<="},   {"ge", ">="},     {"ss", "<=>"},     {"nt", "!"},         {"aa", "&&"},
    {"oo", "||"},   {"pp", "++"},     {"mm", "--"},      {"cm", ","},         {"pm", "->*"},
    {"pt", "->"},   {"cl", "()"},     {"ix", "[]"},      {"qu", "?"},
};

}  // namespace

Demangler::Name Demangler::name(bool isEncoding) {
  const Nesting nesting(*this);
  if (!isOk_) {
    return {};
  }
  if (peek() == 'N') {
    return nestedName(isEncoding);
  }
  if (peek() == 'Z') {
    const size_t first = firstParameter_;
    const size_t end = endParameters_;
    const Name found = localName();
    if (!isEncoding) {
      firstParameter_ = first;
      endParameters_ = end;
    }
    return found;
  }
  Name found;
  const bool isSubstitution = peek() == 'S' && peek(1) != 't';
  if (isSubstitution) {
    found.text = whole(substitution(), *this);
  } else if (take("St")) {
    found.text = join(std::string_view("std::"), unqualified(found));
  } else {
    found.text = unqualified(found);
  }
  if (peek() == 'I') {
    if (!isSubstitution) {
      remember(found.text);
    }
    found.text = join(found.text, templateArguments(isEncoding));
    found.isTemplate = true;
  }
  return found;
}

Demangler::Name Demangler::nestedName(bool isEncoding) {
  Name found;
  take('N');
  std::string_view qualifiers;
  for (const char c : {'r', 'V', 'K'}) {
    if (take(c)) {
      qualifiers = join(qualifiers, std::string_view(c == 'r'   ? " restrict"
                                                     : c == 'V' ? " volatile"
                                                                : " const"));
    }
  }
  if (take('R')) {
    qualifiers = join(qualifiers, std::string_view(" &"));
  } else if (take('O')) {
    qualifiers = join(qualifiers, std::string_view(" &&"));
  }
  found.qualifiers = qualifiers;
  while (isOk_ && !take('E')) {
    const std::string_view before = found.text;
    if (peek() == 'I') {
      found.text = join(before, templateArguments(isEncoding));
      found.isTemplate = true;
    } else {
      found.isTemplate = false;
      if (take("St")) {
        found.text = "std";
        continue;
      }
      if (peek() == 'S') {
        found.text = whole(substitution(), *this);
        const size_t colon = found.text.rfind(':');
        lastName_ = colon == std::string_view::npos ? found.text : found.text.substr(colon + 1);
        continue;
      }
      if (peek() == 'T') {
        found.text = whole(templateParameter(), *this);
        remember(found.text);
        continue;
      }
      take('M');  // in the initialiser of a variable
      const std::string_view own = unqualified(found);
      found.text = before.empty() ? own : join(before, std::string_view("::"), own);
    }
    if (peek() != 'E') {
      remember(found.text);
    }
  }
  return found;
}

Demangler::Name Demangler::localName() {
  take('Z');
  const std::string_view function = encoding();
  Name found;
  if (!take('E')) {
    fail();
    return found;
  }
  if (take('s')) {
    found.text = join(function, std::string_view("::{string literal}"));
  } else {
    if (take('d')) {  // in an argument's default
      sequence(10);
    }
    found = name(true);
    found.text = join(function, std::string_view("::"), found.text);
  }
  if (take("__")) {  // which of several
    number();
    take('_');
  } else if (peek() == '_' && isDigit(peek(1))) {
    take('_');
    left_.remove_prefix(1);
  }
  return found;
}

std::string_view Demangler::unqualified(Name& of) {
  std::string_view text;
  take('L');  // not to be seen by other files
  if (isDigit(peek())) {
    text = lastName_ = sourceName();
  } else if (take("Ul")) {
    text = lambda();
  } else if (take("Ut")) {
    const uint64_t index = sequence(10);
    const char digit = static_cast<char>('1' + index % 9);
    text = join(std::string_view("{unnamed type#"), std::string_view(&digit, 1), std::string_view("}"));
  } else if ((peek() == 'C' || peek() == 'D') && isDigit(peek(1))) {
    text = peek() == 'C' ? lastName_ : join(std::string_view("~"), lastName_);
    left_.remove_prefix(2);
    of.hasNoReturnType = true;
  } else {
    text = operatorName(of);
  }
  while (take('B')) {
    text = join(text, std::string_view("[abi:"), sourceName(), std::string_view("]"));
  }
  return text;
}

std::string_view Demangler::sourceName() {
  const uint64_t size = number();
  if (!isOk_ || size == 0 || size > left_.size()) {
    fail();
    return {};
  }
  const std::string_view name = left_.substr(0, size);
  left_.remove_prefix(size);
  return name.starts_with("_GLOBAL__N") ? "(anonymous namespace)" : name;
}

std::string_view Demangler::operatorName(Name& of) {
  if (take("cv")) {
    of.hasNoReturnType = true;
    return join(std::string_view("operator "), whole(type(), *this));
  }
  if (take("li")) {
    return join(std::string_view("operator\"\" "), sourceName());
  }
  for (const Code& code : kOperators) {
    if (take(code.code)) {
      return join(std::string_view("operator"), code.text);
    }
  }
  fail();
  return {};
}

std::string_view Demangler::lambda() {
  ++numLambdas_;
  const std::string_view arguments = parameters('E');
  --numLambdas_;
  take('E');
  char digits[20];
  size_t begin = sizeof digits;
  for (uint64_t index = sequence(10) + 1; index != 0; index /= 10) {
    digits[--begin] = static_cast<char>('0' + index % 10);
  }
  return join(std::string_view("{lambda"), arguments, std::string_view("#"),
              std::string_view(digits + begin, sizeof digits - begin), std::string_view("}"));
}

}  // namespace weft::inline v0_1::detail::inspect
