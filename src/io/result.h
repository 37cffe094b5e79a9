// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <system_error>

// What comes of an operation, and how the two forms of each function tell it.
namespace weft::inline v0_1::detail {

struct IoResult {
  ssize_t value = -1;
  int error = 0;  // 0 if value counts
};

inline std::error_code toErrorCode(int error) noexcept { return {error, std::generic_category()}; }

inline size_t toSize(const IoResult& result, std::error_code& error) noexcept {
  error = toErrorCode(result.error);
  return result.error == 0 ? static_cast<size_t>(result.value) : 0;
}

// Calls step(rest) until nothing is left, or it returns nothing.
template <class Byte, class Step>
size_t doAll(std::span<Byte> bytes, const Step& step) {
  size_t done = 0;
  while (done < bytes.size()) {
    const size_t count = step(bytes.subspan(done));
    if (count == 0) {
      break;
    }
    done += count;
  }
  return done;
}

// Calls call(error), and throws if it sets an error. The exception's text begins with "weft::" and name().
template <class Name, class Call>
auto orThrow(const Name& name, const Call& call) {
  std::error_code error;
  auto result = call(error);
  if (error) {
    throw std::system_error(error, "weft::" + name());
  }
  return result;
}

template <class Call>
auto orThrow(const char* what, int fd, const Call& call) {
  return orThrow([&] { return std::string(what) + ", fd " + std::to_string(fd); }, call);
}

}  // namespace weft::inline v0_1::detail
