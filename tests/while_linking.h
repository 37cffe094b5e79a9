// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <utility>

#include <weft/select.h>

namespace weft::tests {

// A case of select() that never happens, and calls a function where it would be linked: between the cases
// before it, which are linked by then, and those behind it.
class WhileLinking final : public detail::OneSidedCase {
 public:
  explicit WhileLinking(std::function<void()> f) : f_(std::move(f)) {}

  bool tryTake() override { return false; }
  bool takeOrLink() override {
    f_();
    return false;
  }
  void unlink() override {}
  void keep() override {}
  void run() {}

 private:
  std::function<void()> f_;
};

}  // namespace weft::tests
