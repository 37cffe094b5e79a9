// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fiberhooks.h"

#include <mutex>
#include <new>
#include <unordered_map>

#include "scheduler/report/symbol.h"
#include "scheduler/trace/wishes.h"

namespace weft::inline v0_1 {

constinit detail::Wishes detail::wishes;

const FiberHooks* setFiberHooks(const FiberHooks* hooks) noexcept {
  // (1) acq_rel: publishes what `hooks` points to, and sees what those before point to; pairs with (1), and
  // with the load in Worker::followNow().
  const FiberHooks* const before = detail::wishes.hooks.exchange(hooks, std::memory_order_acq_rel);
  // (2) release: who sees the change sees these hooks, or newer ones; pairs with the load in
  // Wishes::current().
  detail::wishes.word.fetch_add(detail::Wishes::kChange, std::memory_order_release);
  return before;
}

const char* taskName(const void* code) noexcept try {
  // Never destroyed: threads may run tasks until the process has ended.
  struct Names {
    std::mutex mutex;
    std::unordered_map<const void*, detail::Symbol> texts;  // its nodes stay where they are
  };
  static Names& names = *new Names;
  const std::lock_guard<std::mutex> guard(names.mutex);
  return names.texts.try_emplace(code, code).first->second.text;
} catch (const std::bad_alloc&) {
  return "(no memory for the name)";
}

}  // namespace weft::inline v0_1
