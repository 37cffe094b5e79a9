// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "os/osfiber.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(start, end) 0
#define VALGRIND_STACK_DEREGISTER(id) static_cast<void>(id)
#define RUNNING_ON_VALGRIND 0
#endif

// What the tests of OSFiber share.
namespace weft::tests {

using detail::OSFiber;

inline constexpr size_t kStackSize = 256 * 1024;

// A fiber that runs a function and then switches for good to the fiber that resumed it last.
class TestFiber {
 public:
  explicit TestFiber(std::function<void(TestFiber&)> body)
      : body_(std::move(body)), stack_(std::make_unique<char[]>(kStackSize)) {
    valgrindStack_ = VALGRIND_STACK_REGISTER(stack_.get(), stack_.get() + kStackSize - 1);
    start(kStackSize);
  }
  ~TestFiber() {
    os.destroy();
    VALGRIND_STACK_DEREGISTER(valgrindStack_);
  }
  TestFiber(const TestFiber&) = delete;
  TestFiber& operator=(const TestFiber&) = delete;

  void start(size_t stackSize) {
    ended_ = false;
    os.init(stack_.get(), stackSize, &TestFiber::main, this);
  }

  void setResumer(OSFiber& resumer) { resumer_ = &resumer; }

  void resumeFrom(OSFiber& from) {
    setResumer(from);
    OSFiber::switchTo(from, os, OSFiber::exceptionGlobals());
  }

  void suspend() { OSFiber::switchTo(os, *resumer_, OSFiber::exceptionGlobals()); }

  bool ended() const { return ended_; }
  bool isOnStack(const void* p) const { return p >= stack_.get() && p < stack_.get() + kStackSize; }

  OSFiber os;

 private:
  static void main(void* self) {
    auto* fiber = static_cast<TestFiber*>(self);
    fiber->body_(*fiber);
    fiber->ended_ = true;
    fiber->suspend();
  }

  std::function<void(TestFiber&)> body_;
  std::unique_ptr<char[]> stack_;
  OSFiber* resumer_ = nullptr;
  unsigned valgrindStack_ = 0;
  bool ended_ = false;
};

class WithOSFibers : public testing::Test {
 protected:
  void SetUp() override { self.initThread(); }

  void finish(TestFiber& fiber) {
    while (!fiber.ended()) {
      fiber.resumeFrom(self);
    }
  }

  OSFiber self;
};

}  // namespace weft::tests
