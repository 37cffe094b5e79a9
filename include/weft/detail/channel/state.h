// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/channel/core.h"
#include "weft/detail/channel/value.h"
#include "weft/export.h"
#include "weft/fiber.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

struct WaitHost;

// The deadline of an operation that does not wait.
inline constexpr TimePoint kWithoutWaiting = TimePoint::min();

// Unique among the threads that live.
inline uintptr_t thisThread() { return reinterpret_cast<uintptr_t>(&currentFiber); }

// What the handles of a channel share; the ring's slots lie behind it.
struct ChannelState final : SharedState, ChannelCore<StdSync, WaitHost> {
  static constexpr const char* kName = "a Channel";

  constexpr explicit ChannelState(MovedFrom movedFromTag) : SharedState(nullptr), ChannelCore(movedFromTag) {}
  WEFT_EXPORT static ChannelState* make(Allocator* allocator, size_t capacity, const ValueType& type);
  WEFT_EXPORT static void free(ChannelState* state);

  // The slow paths. `how`: to move what is at `from`. `token` may be null.
  // Return: WouldWait if the time was up, or a stop was requested, first.
  WEFT_EXPORT ChannelEnd send(void* from, const ValueType& how, TimePoint deadline,
                              const std::stop_token* token);
  WEFT_EXPORT ChannelEnd receive(void* to, TimePoint deadline, const std::stop_token* token);
  WEFT_EXPORT void close();

  // Returns: how many wait to send or to receive; for tests.
  WEFT_EXPORT size_t numWaiting();

  WEFT_EXPORT static MovedFromState<ChannelState> movedFrom;

 private:
  friend MovedFromState<ChannelState>;

  ChannelState(const Allocation& memory, Allocator* from, const ValueType& type, size_t capacity,
               size_t numSlots, unsigned char* slots);
  ~ChannelState() = default;
  template <bool kSends>
  ChannelEnd actOrWait(Transfer& mine, TimePoint deadline, const std::stop_token* token);
  template <bool kSends>
  bool awaitBatch(Transfer& mine);
  bool waitLimited(Waiter& self, WaitList& waiters, TimePoint deadline, const std::stop_token& token,
                   const char* what);

  const Allocation allocation_{};
};

}  // namespace weft::inline v0_1::detail
