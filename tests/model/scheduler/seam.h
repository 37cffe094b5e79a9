// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// What the compiler reads before each source of src/scheduler and src/sync that is checked: what these call
// std::atomic, std::mutex, std::condition_variable, std::this_thread and std::chrono::steady_clock, and what
// the lock-free parts call StdSync, is then the checker's.
//
// The sources are in namespace weft, where `std` is looked up first as weft::std. This file declares that
// namespace: the names in it are found, and all others in ::std, which it uses. Nothing is changed in the
// sources.
#pragma GCC system_header

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <ostream>
#include <shared_mutex>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <streambuf>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <relacy/platform.hpp>

// The checker runs its threads as fibers of one thread, so that they share its thread_local variables. Each
// gets its own back when it runs again.
namespace weft::inline v0_1 {
class Fiber;
namespace detail {
struct TaskScope;
class LocalDeque;
extern thread_local Fiber* currentFiber;
extern thread_local TaskScope* currentTask;
extern thread_local LocalDeque* currentLocalDeque;
}  // namespace detail
}  // namespace weft::inline v0_1

inline void switchWithThreadLocals(fiber_t& to, fiber_t& from) {
  weft::Fiber* const fiber = weft::detail::currentFiber;
  weft::detail::TaskScope* const task = weft::detail::currentTask;
  weft::detail::LocalDeque* const local = weft::detail::currentLocalDeque;
  switch_to_fiber(to, from);
  weft::detail::currentFiber = fiber;
  weft::detail::currentTask = task;
  weft::detail::currentLocalDeque = local;
}

#define switch_to_fiber switchWithThreadLocals
#include <relacy/relacy.hpp>
#undef switch_to_fiber

// A model's clock: see machine.cpp.
namespace weft::std {
using namespace ::std;
namespace chrono {
using namespace ::std::chrono;
struct steady_clock {
  using duration = nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = ::std::chrono::time_point<steady_clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};
}  // namespace chrono
}  // namespace weft::std

#include "../relacy_sync.h"
#include "cells.h"

namespace weft::model {

// The bug of changes.txt that the program was called with, or null.
inline const char* seededName = nullptr;
inline bool isSeeded(const char* name) {
  return seededName != nullptr && ::std::strcmp(seededName, name) == 0;
}

}  // namespace weft::model

namespace weft::inline v0_1::detail {

struct StdSync {
  template <class T>
  using Atomic = model::CellAtomic<T>;
  template <class T>
  using Var = model::CellVar<T>;
  template <class T, size_t N>
  using LazyArray = model::RelacySync::LazyArray<T, N>;
  using Lock = model::CellLock;

  static void fence(::std::memory_order order, WEFT_MODEL_PLACE) {
    model::RelacySync::fence(order, file, line);
  }
  static void lightFence(WEFT_MODEL_PLACE) { model::RelacySync::lightFence(file, line); }
  static bool isLightFenceFree() { return model::RelacySync::isLightFenceFree(); }
  static void lightFenceWhereFree() {}
  static void heavyFence(WEFT_MODEL_PLACE) { model::RelacySync::heavyFence(file, line); }
  static void pause(WEFT_MODEL_PLACE) { model::RelacySync::pause(file, line); }
  static void backOff(uint32_t& fails, WEFT_MODEL_PLACE) { model::RelacySync::backOff(fails, file, line); }
  static void relax(uint32_t& round, WEFT_MODEL_PLACE) { model::RelacySync::relax(round, file, line); }
  static bool futexWait(Atomic<uint32_t>& word, uint32_t expected, const TimePoint* deadline,
                        WEFT_MODEL_PLACE);
  static void futexWake(Atomic<uint32_t>& word, int count, WEFT_MODEL_PLACE) {
    model::RelacySync::futexWake(word.checked(file, line), count, file, line);
  }
  // Nobody sleeps elsewhere here.
  using WakeFd = int;
  static constexpr WakeFd kNoWakeFd = -1;
  static void signal(WakeFd) {}
};

}  // namespace weft::inline v0_1::detail

namespace weft::std {

template <class T>
using atomic = model::CellAtomic<T>;

// What is a hint to all but its owner: the checker does not see it.
template <class T>
class atomic_ref {
 public:
  explicit atomic_ref(T& value) : value_(value) {}
  T load(memory_order) const { return value_; }
  void store(T value, memory_order) const { value_ = value; }

 private:
  T& value_;
};

using mutex = model::CellLock;
using condition_variable = model::CellCondition;

namespace this_thread {
using namespace ::std::this_thread;
inline void yield(WEFT_MODEL_PLACE) { detail::StdSync::pause(file, line); }
template <class Duration>
void sleep_for(const Duration&, WEFT_MODEL_PLACE) {
  detail::StdSync::pause(file, line);
}
}  // namespace this_thread

}  // namespace weft::std

// The checked atomics are objects with constructors, and larger than those they stand for.
#define constinit
#define static_assert(...) static_assert(true)
