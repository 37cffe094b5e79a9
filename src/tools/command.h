// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <stdexcept>

// The commands of the program `weft`. What goes wrong is one sentence on stderr, which main() writes.
namespace weft::inline v0_1::detail::tools {

// The sentence says what is wrong, and how to mend it. The program ends with 1.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The command line is wrong. The program ends with 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Arguments = std::span<const char* const>;

struct Command {
  const char* name;
  const char* arguments;  // in one line, as the usage has them
  const char* summary;    // a line
  const char* help;       // a screen
  // Gets the arguments behind the command's name. Returns: the exit status.
  int (*run)(Arguments arguments);
};

extern const Command kPs, kBt, kTop, kTrace, kProfile, kSymbolize;

// Takes options off the front of a command line.
class Options {
 public:
  explicit Options(Arguments arguments) : rest_(arguments) {}

  // Moves on to the next option, if there is one. After "--", and from the first other argument on, there is
  // none.
  bool next();
  bool is(const char* name) const;  // whether the option has that name
  const char* name() const { return name_; }
  // The option's value, which is the next argument. Throws UsageError if there is none.
  const char* value();
  // The value, as a number. Throws UsageError if it is none, or out of that range.
  double number(double least, double most);
  int processId();  // the value, as a process id
  Arguments rest() const { return rest_; }
  // The one argument behind the options. Throws UsageError if there is none, or another one behind it.
  const char* only(const char* command, const char* what) const;
  // Says that the argument behind the options is missing.
  [[noreturn]] void failMissing(const char* command, const char* what) const;
  [[noreturn]] void failUnknown(const char* command) const;  // of an option

 private:
  Arguments rest_;
  const char* name_ = nullptr;
  const char* value_ = nullptr;  // of that option; null: none was taken
};

// Returns: the number above zero that the text is, such as a process id; 0 if it is none.
int parsePositive(const char* text);

}  // namespace weft::inline v0_1::detail::tools
