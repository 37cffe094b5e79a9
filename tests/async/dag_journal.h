// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace weft::tests {

// What was called, in order.
struct Journal {
  void add(const std::string& name) {
    std::scoped_lock lock(guard);
    names.push_back(name);
  }
  size_t placeOf(const std::string& name) const {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) {
        return i;
      }
    }
    ADD_FAILURE() << name << " was not called";
    return names.size();
  }
  std::mutex guard;
  std::vector<std::string> names;
};

inline auto adds(const std::string& name) {
  return [name](Journal& journal) { journal.add(name); };
}

}  // namespace weft::tests
