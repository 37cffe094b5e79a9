// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/demangler.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr int kDeepest = 48;  // a recursion takes some 300 bytes of stack

struct Code {
  std::string_view code;
  std::string_view text;
};

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

constexpr Code kStandard[] = {
    {"Sa", "std::allocator"}, {"Sb", "std::basic_string"}, {"Ss", "std::string"},
    {"Si", "std::istream"},   {"So", "std::ostream"},      {"Sd", "std::iostream"},
};

constexpr Code kSpecial[] = {
    {"TV", "vtable for "},         {"TT", "VTT for "}, {"TI", "typeinfo for "}, {"TS", "typeinfo name for "},
    {"GV", "guard variable for "},
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

// Of the functions that call themselves.
class Demangler::Nesting {
 public:
  explicit Nesting(Demangler& self) : self_(self) {
    if (++self_.depth_ > kDeepest) {
      self_.fail();
    }
  }
  ~Nesting() { --self_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Demangler& self_;
};

std::string_view Demangler::demangle(std::string_view mangled) {
  left_ = mangled;
  isOk_ = take("_Z");
  depth_ = numLambdas_ = 0;
  numSubstitutions_ = firstParameter_ = endParameters_ = numPacked_ = expanded_ = used_ = 0;
  lastName_ = {};
  std::string_view text = encoding();
  if (isOk_ && peek() == '.') {  // a part that the compiler has split off
    text = join(text, " [clone ", left_, "]");
    left_ = {};
  }
  return isOk_ && left_.empty() ? text : std::string_view();
}

bool Demangler::take(char c) {
  if (peek() != c || left_.empty()) {
    return false;
  }
  left_.remove_prefix(1);
  return true;
}

bool Demangler::take(std::string_view text) {
  if (!left_.starts_with(text)) {
    return false;
  }
  left_.remove_prefix(text.size());
  return true;
}

uint64_t Demangler::number() {
  uint64_t value = 0;
  if (!isDigit(peek())) {
    fail();
  }
  for (int i = 0; isDigit(peek()); ++i) {
    if (i == 18) {
      fail();
      return 0;
    }
    value = value * 10 + static_cast<uint64_t>(left_.front() - '0');
    left_.remove_prefix(1);
  }
  return value;
}

// Reads what counts: "_" is 0, "0_" is 1, "1_" is 2.
uint64_t Demangler::sequence(unsigned base) {
  if (take('_')) {
    return 0;
  }
  uint64_t value = 0;
  while (!take('_')) {
    const char c = peek();
    const unsigned digit = isDigit(c)             ? static_cast<unsigned>(c - '0')
                           : c >= 'A' && c <= 'Z' ? static_cast<unsigned>(c - 'A') + 10
                                                  : base;
    if (digit >= base || value > 1000000) {
      fail();
      return 0;
    }
    value = value * base + digit;
    left_.remove_prefix(1);
  }
  return value + 1;
}

template <class... Parts>
std::string_view Demangler::join(std::string_view first, Parts... parts) {
  size_t begin = used_;
  if (!first.empty() && first.data() + first.size() == text_ + used_) {
    begin -= first.size();  // what was written last goes on
  } else {
    append(first);
  }
  (append(parts), ...);
  return {text_ + begin, used_ - begin};
}

void Demangler::append(std::string_view part) {
  if (part.empty()) {
    return;
  }
  if (part.size() > sizeof text_ - used_) {
    fail();
    return;
  }
  std::memcpy(text_ + used_, part.data(), part.size());
  used_ += part.size();
}

std::string_view Demangler::whole(const Type& type, Demangler& self) {
  return type.right.empty() ? type.left : self.join(type.left, type.right);
}

std::string_view Demangler::encoding() {
  const Nesting nesting(*this);
  if (!isOk_) {
    return {};
  }
  if (peek() == 'G' || peek() == 'T') {
    return special();
  }
  const Name function = name(true);
  if (left_.empty() || peek() == 'E' || peek() == '.') {
    return join(function.text, function.qualifiers);
  }
  if (function.isTemplate && !function.hasNoReturnType) {
    type();
  }
  const std::string_view arguments = parameters('\0');
  return join(function.text, arguments, function.qualifiers);
}

std::string_view Demangler::special() {
  for (const Code& code : kSpecial) {
    if (take(code.code)) {
      return code.code == "GV" ? join(code.text, name(true).text) : join(code.text, whole(type(), *this));
    }
  }
  if (take("Th")) {  // adjusts the object's address and goes on
    take('n');
    number();
    if (!take('_')) {
      fail();
    }
    return join(std::string_view("non-virtual thunk to "), encoding());
  }
  fail();
  return {};
}

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

// Reads types up to `end`, or up to the end of the name.
std::string_view Demangler::parameters(char end) {
  const std::string_view list = parameterList(end);
  return join(std::string_view("("), list, std::string_view(")"));
}

std::string_view Demangler::parameterList(char end) {
  if (peek() == 'v' && (left_.size() == 1 || peek(1) == 'E' || peek(1) == '.' || peek(1) == end)) {
    left_.remove_prefix(1);
    return {};
  }
  std::string_view text;
  while (isOk_ && !left_.empty() && peek() != 'E' && peek() != '.') {
    const std::string_view next = whole(type(), *this);
    if (!next.empty()) {
      text = text.empty() ? next : join(text, std::string_view(", "), next);
    }
  }
  return text;
}

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
