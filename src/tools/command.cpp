// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/command.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace weft::inline v0_1::detail::tools {

bool Options::next() {
  if (rest_.empty() || rest_[0][0] != '-' || rest_[0][1] == '\0') {
    return false;
  }
  name_ = rest_[0];
  value_ = nullptr;
  rest_ = rest_.subspan(1);
  return std::strcmp(name_, "--") != 0;
}

bool Options::is(const char* name) const { return std::strcmp(name_, name) == 0; }

const char* Options::value() {
  if (rest_.empty()) {
    throw UsageError(std::string(name_) + " needs a value");
  }
  value_ = rest_[0];
  rest_ = rest_.subspan(1);
  return value_;
}

double Options::number(double least, double most) {
  const char* const text = value();
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(number >= least) || number > most) {
    char range[64];
    std::snprintf(range, sizeof range, "%.10g to %.10g", least, most);
    throw UsageError(std::string(name_) + " needs a number from " + range + ", which \"" + text +
                     "\" is not");
  }
  return number;
}

int Options::processId() {
  const char* text = value();
  const int id = parsePositive(text);
  if (id == 0) {
    throw UsageError(std::string(name_) + " needs the number of a process, which \"" + text + "\" is not");
  }
  return id;
}

const char* Options::only(const char* command, const char* what) const {
  if (rest_.empty()) {
    failMissing(command, what);
  }
  if (rest_.size() != 1) {
    throw UsageError(std::string(command) + " needs " + what + ", and nothing else: see `weft help " +
                     command + "`");
  }
  return rest_[0];
}

void Options::failMissing(const char* command, const char* what) const {
  std::string message = std::string(command) + " needs " + what;
  if (value_ != nullptr) {
    message += std::string(" behind its options: \"") + value_ + "\" is the value of " + name_;
  }
  throw UsageError(message + ": see `weft help " + command + "`");
}

void Options::failUnknown(const char* command) const {
  throw UsageError(std::string(command) + " has no option " + name_ + ": see `weft help " + command + "`");
}

int parsePositive(const char* text) {
  const std::string_view digits(text);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number > 0 ? number : 0;
}

}  // namespace weft::inline v0_1::detail::tools
