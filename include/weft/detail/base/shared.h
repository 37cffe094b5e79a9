// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "weft/detail/base/node_pool.h"
#include "weft/export.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

struct ReferenceCount {
  constexpr explicit ReferenceCount(uint32_t count) : references(count) {}

  // relaxed: the caller has a handle already.
  void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }

  // Takes a handle unless the last one has gone. Returns: whether it did. Requires: the memory exists.
  bool tryRetain() noexcept {
    uint32_t count = references.load(std::memory_order_relaxed);  // relaxed, all: publishes nothing
    while (count != 0) {
      if (references.compare_exchange_weak(count, count + 1, std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // `mayBeUpgraded`: tryRetain() may be called meanwhile. Returns: whether this was the last handle.
  bool releaseReference(bool mayBeUpgraded) noexcept {
    // (2) acquire: nobody else can copy the only handle, so no read-modify-write is needed; pairs with (1).
    if (!mayBeUpgraded && references.load(std::memory_order_acquire) == 1) {
      return true;
    }
    // (1) acq_rel: what the other handles did comes before the destruction; pairs with (1, 2).
    return references.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  std::atomic<uint32_t> references;
};

// The base of state that several handles share. Made by Shared, destroyed with the last handle.
struct SharedState : ReferenceCount {
  // `from`: null for state that lies in a pooled node.
  constexpr explicit SharedState(Allocator* from) : ReferenceCount(1), allocator(from) {}

  // A State that uses tryRetain() sets this to true.
  static constexpr bool kMayBeUpgraded = false;

  // For messages. A State that users make with an allocator, or move from, sets its own.
  static constexpr const char* kName = "a handle";

  Allocator* const allocator;
};

// Ends the program with a message: `what`, "an Event" for instance, was used after it was moved from.
[[noreturn, gnu::cold, gnu::noinline]] WEFT_EXPORT void reportMovedFrom(const char* what);

struct MovedFrom {};

// The state that all moved-from handles of a type point to. Fast paths fail on it; slow paths test for it.
template <class State>
union MovedFromState {
  constexpr MovedFromState() : state(MovedFrom()) {}
  constexpr ~MovedFromState() {}

  State state;
};

// A counted pointer to a State that derives from SharedState. States of the default allocator lie in pooled
// nodes. A State that is made otherwise, for adopt(), or has more to do at its end, has free(State*), or its
// own retain() and release().
//
// A moved-from handle points to State::movedFrom, if that exists, and else is null. A State has movedFrom if
// its handle has no null state. Then its users need not test for null at each call.
template <class State>
class Shared {
 public:
  // A moved-from handle.
  Shared() noexcept = default;
  template <class... Args>
  explicit Shared(Allocator* allocator, Args&&... args)
      : state_(make(allocator, std::forward<Args>(args)...)) {}

  static Shared adopt(State* state) { return Shared(state); }

  // A copy of a moved-from handle is moved-from, too. (The count of State::movedFrom means nothing.)
  Shared(const Shared& other) noexcept : state_(other.state_) {
    if (kHasMovedFrom || state_ != nullptr) {
      state_->retain();
    }
  }
  // The moved-from handle may only be copied, assigned to or destroyed.
  Shared(Shared&& other) noexcept : state_(std::exchange(other.state_, none())) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Shared() {
    if (state_ != none()) {
      release(state_);
    }
  }

  // Requires: not null. (The test keeps gcc 12 from warning of a moved-from handle's null.)
  State* operator->() const noexcept {
    if (!kHasMovedFrom && state_ == nullptr) {
      __builtin_unreachable();
    }
    return state_;
  }
  State& operator*() const noexcept { return *operator->(); }
  State* get() const noexcept { return state_; }

  // Ends the program with a message if the handle was moved from.
  static void assertUsable(const State& state) {
    if (&state == none()) [[unlikely]] {
      detail::reportMovedFrom(State::kName);
    }
  }
  // operator* for slow paths: ends the program with a message if the handle was moved from.
  State& checked() const {
    assertUsable(*state_);
    return *state_;
  }

  // Destroys a state whose last handle is gone, and gives its memory back.
  static void freeMemory(State* state) noexcept {
    Allocator* const allocator = state->allocator;
    if (allocator == nullptr) {
      state->~State();
      detail::freeNode(state, kNode);
    } else {
      allocator->destroy(state);
    }
  }

 private:
  static constexpr bool kHasMovedFrom = requires { State::movedFrom; };
  static State* none() noexcept {
    if constexpr (kHasMovedFrom) {
      return &State::movedFrom.state;
    } else {
      return nullptr;
    }
  }

  static constexpr NodeSize kNode = nodeSizeFor(sizeof(State));

  explicit Shared(State* state) : state_(state) {}

  // The state keeps its allocator, since Allocator::Default may have changed when the state ends.
  template <class... Args>
  static State* make(Allocator* allocator, Args&&... args) {
    if (kNode != NodeSize::None && allocator == Allocator::Default) {
      return ::new (allocateNode(kNode)) State(nullptr, std::forward<Args>(args)...);
    }
    return detail::assertAllocator(allocator, State::kName)
        ->template create<State>(allocator, std::forward<Args>(args)...);
  }

  static void release(State* state) noexcept {
    if constexpr (requires { state->release(); }) {
      state->release();
    } else if (!state->releaseReference(State::kMayBeUpgraded)) {
      return;
    } else if constexpr (requires { State::free(state); }) {
      State::free(state);
    } else {
      freeMemory(state);
    }
  }

  State* state_ = none();
};

}  // namespace weft::inline v0_1::detail
