// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::inline v0_1::detail::inspect {

// Reads a name that a compiler made by the Itanium C++ ABI, as those of functions are, and writes it as the
// source has it: "weft::Mutex::lock()". Leaves out the types that templates of functions return. Takes no
// memory but its own, some 20 KiB, since the C++ library's function for this calls malloc. Its calls take up
// to 20 KiB of stack.
//
// Names with expressions, as some constraints of templates give, are not read.
class Demangler {
 public:
  // Returns: the name, which lies in this object; empty, if the name is none of C++, or not understood.
  std::string_view demangle(std::string_view mangled);

 private:
  // A type around the name of what is declared: "void (*" and ")(int)".
  struct Type {
    std::string_view left;
    std::string_view right;
    size_t parameter = 0;  // T_ is 1, T0_ is 2, ...; 0: another type
  };

  struct Name {
    std::string_view text;
    std::string_view qualifiers;   // of a member function, behind its arguments
    bool isTemplate = false;       // ends with arguments of a template
    bool hasNoReturnType = false;  // a constructor, a destructor or a conversion
  };

  class Nesting;

  char peek(size_t ahead = 0) const { return ahead < left_.size() ? left_[ahead] : '\0'; }
  bool take(char c);
  bool take(std::string_view text);
  void fail() { isOk_ = false; }
  uint64_t number();
  uint64_t sequence(unsigned base);

  // Returns: the parts, one behind the other.
  template <class... Parts>  // of string_view
  std::string_view join(std::string_view first, Parts... parts);
  void append(std::string_view part);
  static std::string_view whole(const Type& type, Demangler& self);

  std::string_view encoding();
  std::string_view special();
  Name name(bool isEncoding);
  Name nestedName(bool isEncoding);
  Name localName();
  std::string_view unqualified(Name& of);
  std::string_view sourceName();
  std::string_view operatorName(Name& of);
  std::string_view lambda();
  std::string_view templateArguments(bool isEncoding);
  std::string_view templateArgument();
  Type packExpansion();
  std::string_view literal();
  std::string_view parameters(char end);
  std::string_view parameterList(char end);
  Type type();
  Type typeOfNoBuiltin();
  Type qualified();
  Type functionType();
  Type arrayType();
  Type memberPointer();
  Type around(const Type& inner, std::string_view declarator);
  Type templateParameter();
  Type meaningOf(size_t parameter);
  Type substitution();
  std::string_view standard();
  Type remember(const Type& type);
  Type remember(std::string_view text) { return remember(Type{text, {}, 0}); }

  static constexpr size_t kSubstitutions = 160;
  static constexpr size_t kParameters = 64;

  std::string_view left_;  // of the mangled name
  bool isOk_ = true;
  int depth_ = 0;
  int numLambdas_ = 0;         // around what is read: their T_ is an auto
  std::string_view lastName_;  // for constructors
  Type substitutions_[kSubstitutions];
  size_t numSubstitutions_ = 0;
  // T_, T0_, ... of the innermost template that is a function or has one. The elements of a pack are in
  // `packs_`.
  struct Parameter {
    std::string_view text;
    bool isPack = false;
    size_t first = 0;
    size_t count = 0;
  };
  Parameter parameters_[kParameters];
  size_t firstParameter_ = 0;  // of those that T_ may mean
  size_t endParameters_ = 0;
  std::string_view packs_[kParameters];
  size_t numPacked_ = 0;
  size_t expanded_ = 0;   // which element of a pack is written
  size_t packCount_ = 1;  // of the pack that was met last
  size_t used_ = 0;
  char text_[10 * 1024];
};

}  // namespace weft::inline v0_1::detail::inspect
