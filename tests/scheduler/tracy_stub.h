// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// Stands in for tracy/Tracy.hpp, which is no package of Debian. It has the names of Tracy's API for fibers
// and what Tracy's manual ("Fibers", "Unique pointers") asks for: a fiber is told by the address of its
// name, which lives as long as the process; it is entered on one thread at a time; its zones end on it,
// innermost first.
namespace tracy_stub {

struct Fiber {
  std::string text;  // of its name at the first entry
  bool isEntered = false;
  std::vector<const char*> zones;  // open
  int numZones = 0;
};

inline std::mutex mutex;
inline std::map<const char*, Fiber> fibers;
inline std::set<std::string> strayZones;  // begun where no fiber was entered
inline thread_local const char* current = nullptr;

inline void leave() {
  const std::lock_guard<std::mutex> guard(mutex);
  ASSERT_NE(current, nullptr);
  fibers[current].isEntered = false;
  current = nullptr;
}

inline void enter(const char* name) {
  const std::lock_guard<std::mutex> guard(mutex);
  ASSERT_EQ(current, nullptr);
  Fiber& fiber = fibers[name];
  if (fiber.text.empty()) {
    fiber.text = name;
  }
  EXPECT_EQ(fiber.text, name);
  EXPECT_FALSE(fiber.isEntered);
  fiber.isEntered = true;
  current = name;
}

class Zone {
 public:
  explicit Zone(const char* name) : name_(name) {
    const std::lock_guard<std::mutex> guard(mutex);
    if (current == nullptr) {
      strayZones.insert(name);
      return;
    }
    fiber_ = &fibers[current];
    fiber_->zones.push_back(name);
    ++fiber_->numZones;
  }
  ~Zone() {
    const std::lock_guard<std::mutex> guard(mutex);
    if (fiber_ != nullptr) {
      EXPECT_EQ(fiber_, &fibers[current]);
      EXPECT_EQ(fiber_->zones.back(), name_);
      fiber_->zones.pop_back();
    }
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

 private:
  const char* const name_;
  Fiber* fiber_ = nullptr;
};

}  // namespace tracy_stub

#define TRACY_ENABLE
#define TRACY_FIBERS
#define TracyFiberEnter(fiber) tracy_stub::enter(fiber)
#define TracyFiberLeave tracy_stub::leave()
#define ZoneNamedN(variable, name, active) const tracy_stub::Zone variable(name)
