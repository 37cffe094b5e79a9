// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/demangler.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "inspect/demangler_inl.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr Code kBuiltins[] = {
    {"v", "void"},
    {"w", "wchar_t"},
    {"b", "bool"},
    {"c", "char"},
    {"a", "signed char"},
    {"h", "unsigned char"},
    {"s", "short"},
    {"t", "unsigned short"},
    {"i", "int"},
    {"j", "unsigned int"},
    {"l", "long"},
    {"m", "unsigned long"},
    {"x", "long long"},
    {"y", "unsigned long long"},
    {"n", "__int128"},
    {"o", "unsigned __int128"},
    {"f", "float"},
    {"d", "double"},
    {"e", "long double"},
    {"g", "__float128"},
    {"z", "..."},
    {"Di", "char32_t"},
    {"Ds", "char16_t"},
    {"Du", "char8_t"},
    {"Da", "auto"},
    {"Dc", "decltype(auto)"},
    {"Dn", "decltype(nullptr)"},
};

}  // namespace

Demangler::Type Demangler::type() {
  const Nesting nesting(*this);
  if (!isOk_) {
    return {};
  }
  for (const Code& code : kBuiltins) {
    if (take(code.code)) {
      return {code.text, {}, 0};
    }
  }
  return typeOfNoBuiltin();
}

Demangler::Type Demangler::typeOfNoBuiltin() {
  switch (peek()) {
    case 'r':
    case 'V':
    case 'K':
      return qualified();
    case 'P':
      take('P');
      return remember(around(type(), "*"));
    case 'R':
      take('R');
      return remember(around(type(), "&"));
    case 'O':
      take('O');
      return remember(around(type(), "&&"));
    case 'F':
      return remember(functionType());
    case 'A':
      return remember(arrayType());
    case 'M':
      return remember(memberPointer());
    case 'T': {
      Type found = remember(templateParameter());
      if (peek() == 'I') {
        found = remember(join(whole(found, *this), templateArguments(false)));
      }
      return found;
    }
    case 'D':
      if (take("Dp")) {
        return remember(packExpansion());
      }
      if (take("Do")) {  // noexcept
        return remember(functionType());
      }
      fail();
      return {};
    case 'S':
      if (peek(1) != 't') {
        const Type found = substitution();
        return peek() == 'I' ? remember(join(whole(found, *this), templateArguments(false))) : found;
      }
      break;
    default:
      break;
  }
  const Name found = name(false);
  return remember(found.text);
}

Demangler::Type Demangler::qualified() {
  std::string_view qualifiers;
  for (const char c : {'r', 'V', 'K'}) {
    if (take(c)) {
      qualifiers = join(std::string_view(c == 'r'   ? " restrict"
                                         : c == 'V' ? " volatile"
                                                    : " const"),
                        qualifiers);
    }
  }
  if (peek() == 'F') {  // of a member function
    Type function = functionType();
    function.right = join(function.right, qualifiers);
    return remember(function);
  }
  const Type inner = type();
  return remember(Type{join(inner.left, qualifiers), inner.right, 0});
}

// Returns: a pointer to the type, or a reference, whose sign stands before the name of what is declared.
Demangler::Type Demangler::around(const Type& inner, std::string_view declarator) {
  if (inner.right.starts_with('(') || inner.right.starts_with(" [")) {
    const bool isFunction = inner.right.starts_with('(');
    return {join(inner.left, std::string_view(isFunction ? "(" : " ("), declarator),
            join(std::string_view(")"), inner.right)};
  }
  if (declarator != "*" && (inner.left.ends_with('&'))) {  // references to references
    return declarator == "&" && inner.left.ends_with("&&")
               ? Type{inner.left.substr(0, inner.left.size() - 1), inner.right}
               : inner;
  }
  return {join(inner.left, declarator), inner.right};
}

Demangler::Type Demangler::functionType() {
  if (!take('F')) {
    fail();
  }
  take('Y');
  const Type result = type();
  std::string_view list = parameters('E');
  if (take("RE")) {
    list = join(list, std::string_view(" &"));
  } else if (take("OE")) {
    list = join(list, std::string_view(" &&"));
  } else if (!take('E')) {
    fail();
  }
  return {join(result.left, std::string_view(result.right.empty() ? " " : "")), join(list, result.right)};
}

Demangler::Type Demangler::arrayType() {
  take('A');
  const std::string_view size = left_.substr(0, std::min(left_.find('_'), left_.size()));
  if (!std::all_of(size.begin(), size.end(), isDigit)) {
    fail();
  }
  left_.remove_prefix(size.size());
  if (!take('_')) {
    fail();
  }
  const Type inner = type();
  const std::string_view right = inner.right.starts_with(" [") ? inner.right.substr(1) : inner.right;
  return {inner.left, join(std::string_view(" ["), size, std::string_view("]"), right)};
}

Demangler::Type Demangler::memberPointer() {
  take('M');
  const std::string_view of = whole(type(), *this);
  const Type member = type();
  if (member.right.starts_with('(')) {
    return {join(member.left, std::string_view("("), of, std::string_view("::*")),
            join(std::string_view(")"), member.right)};
  }
  return {join(member.left, std::string_view(" "), of, std::string_view("::*")), member.right};
}

}  // namespace weft::inline v0_1::detail::inspect
