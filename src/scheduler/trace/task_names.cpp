// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/trace/task_names.h"

#include <atomic>
#include <cstdint>

#include "weft/debug.h"

// A node has no room for the address of a name, but for a number. The numbers are places in a table in which
// each name stands once, at the first free place from the one that its address hashes to. No name leaves it.
namespace weft::inline v0_1::detail {
namespace {

constexpr uint32_t kNone = 0;
// Listeners that are no tasks have all bits set.
constexpr uint32_t kLast = (~uint32_t{0} >> kTaskNameShift) - 1;

// relaxed, all: the address of a text which its setter knows already. Whoever has the number from a node has
// it from the thread that has seen or written the name here, and sees it too.
constinit std::atomic<const char*> names[kLast + 2] = {};  // null -> a name

constinit std::atomic<bool> isWarned{false};

uint32_t firstPlaceOf(const char* name) {
  const uint64_t mixed = reinterpret_cast<uintptr_t>(name) * 0x9e3779b97f4a7c15;
  return 1 + static_cast<uint32_t>(mixed >> 32) % kLast;
}

// Returns: the number of a name; kNone if the table is full.
uint32_t numberOf(const char* name) noexcept {
  uint32_t place = firstPlaceOf(name);
  for (uint32_t i = 0; i < kLast; ++i) {
    const char* there = names[place].load(std::memory_order_relaxed);
    if (there == nullptr && names[place].compare_exchange_strong(there, name, std::memory_order_relaxed)) {
      return place;
    }
    if (there == name) {
      return place;
    }
    place = place == kLast ? 1 : place + 1;
  }
  // relaxed: it publishes nothing.
  if (!isWarned.exchange(true, std::memory_order_relaxed)) {
    WEFT_WARN(
        "Task::setName(\"%s\"): there are %u names already, and no more are kept. Use few texts, each "
        "at one address, as string literals are.",
        name, kLast);
  }
  return kNone;
}

}  // namespace

void setTaskName(TaskNode& node, const char* name) noexcept {
  constexpr uint32_t kFlags = (uint32_t{1} << kTaskNameShift) - 1;
  const uint32_t number = name != nullptr ? numberOf(name) : kNone;
  node.flags = (node.flags & kFlags) | number << kTaskNameShift;
}

const char* taskNameOf(const TaskNode& node) noexcept {
  return names[node.flags >> kTaskNameShift].load(std::memory_order_relaxed);
}

}  // namespace weft::inline v0_1::detail
