// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/channel.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>

#include "scheduler/core/waiter_inl.h"
#include "weft/debug.h"
#include "weft/detail/wait/stoppable.h"

namespace weft::inline v0_1 {

const char* ChannelClosed::what() const noexcept {
  return "weft::ChannelClosed: a value was to be sent on a channel that is closed. "
         "Close a channel when all senders have sent their last value.";
}

namespace detail {
namespace {

// Negative numbers, as size_t, are beyond it.
constexpr size_t kMaxCapacity = std::min(size_t{1} << 31, size_t{PTRDIFF_MAX} / 2 + 1);

// How many pauses to wait for several values in a row before testing again: each test takes a cache line from
// the other side. All tests of the greatest patience take 2 us, in which a hundred values come or go.
constexpr uint32_t kLeastPatience = 8, kMostPatience = 64;
constexpr size_t kLeastBatch = 3, kBatch = 256;

void assertNobodyWaits(bool isSo) {
  WEFT_ASSERT(isSo,
              "a Channel was destroyed while somebody waits for it. "
              "Keep a copy until send() or receive() has returned.");
}

// Ends a limited wait's use of a channel, which may be destroyed while a deadline or stop still looks there.
struct ReleaseAtEnd {
  ChannelState* state;  // null where there is no limit
  ~ReleaseAtEnd() {
    if (state != nullptr) {
      (void)Shared<ChannelState>::adopt(state);
    }
  }
};

}  // namespace

constinit MovedFromState<ChannelState> ChannelState::movedFrom;

ChannelState::ChannelState(const Allocation& memory, Allocator* from, const ValueType& type, size_t capacity,
                           size_t numSlots, unsigned char* slots)
    : SharedState(from), ChannelCore(type, capacity, numSlots, slots), allocation_(memory) {}

ChannelState* ChannelState::make(Allocator* allocator, size_t capacity, const ValueType& type) {
  // Printed as signed, as a caller that passed a negative number wrote it.
  WEFT_ASSERT(capacity <= kMaxCapacity, "Channel(%td): the capacity must be from 0 to %zu.",
              static_cast<ptrdiff_t>(capacity), kMaxCapacity);
  const size_t numSlots = capacity == 0 ? 0 : std::bit_ceil(capacity);
  const size_t offset = alignUp(sizeof(ChannelState), type.alignment);
  const Allocation memory = assertAllocator(allocator, kName)
                                ->allocate({.size = offset + allocationBytes(type.size, numSlots),
                                            .alignment = std::max(alignof(ChannelState), type.alignment),
                                            .usage = Allocation::Usage::Create});
  auto* const slots = static_cast<unsigned char*>(memory.ptr) + offset;
  return ::new (memory.ptr) ChannelState(memory, allocator, type, capacity, numSlots, slots);
}

void ChannelState::free(ChannelState* state) {
  assertNobodyWaits(state->destroyValues());
  const Allocation memory = state->allocation_;
  Allocator* const allocator = state->allocator;
  state->~ChannelState();
  allocator->free(memory);
}

// Where the other side works on another thread now, waits a little until it has done several values in a row.
// Otherwise the sides stop, or exchange cache lines, for each value. Patience grows where that helps.
template <bool kSends>
inline bool ChannelState::awaitBatch(Transfer& mine) {
  auto& side = kSends ? sendersSide() : receiversSide();
  const uintptr_t other = (kSends ? receiversSide() : sendersSide()).lastUser();
  if (other == 0 || other == thisThread()) {
    return false;
  }
  const size_t wanted = std::min(capacity() / 2, kBatch);
  const uint32_t patience = side.patience();
  size_t done = 0;
  const auto longest = static_cast<uint32_t>(std::max<size_t>(capacity() / 8, kLeastPatience));
  uint32_t left = 2 * patience;
  for (uint32_t pauses = kLeastPatience; pauses <= left && done <= wanted;
       pauses = std::min(2 * pauses, longest)) {
    left -= pauses;
    for (uint32_t i = 0; i < pauses; ++i) {
      StdSync::pause();
    }
    done = kSends ? capacity() - size() : size();
  }
  const bool helps = done > std::min(wanted, kLeastBatch);
  side.setPatience(helps ? std::min(2 * patience, kMostPatience) : std::max(patience / 2, kLeastPatience));
  if constexpr (kSends) {
    return tryPut(thisThread(), [&](void* slot) { mine.type->put(slot, mine.value); });
  } else {
    return tryGet(thisThread(), [&](void* slot) { type().get(mine.value, slot); });
  }
}

// Waits until the first of: a wake, the deadline, a stop. Returns: whether it was woken.
bool ChannelState::waitLimited(Waiter& self, WaitList& waiters, TimePoint deadline,
                               const std::stop_token& token, const char* what) {
  const auto claim = [&] {
    Section section(*this, std::defer_lock);
    return unlinkIfLinked(self, section, waiters);
  };
  return blockStoppable(self, deadline, token, claim, what, this) == WaitEnd::Woken;
}

// Does the transfer, or waits until another thread or fiber has done it.
template <bool kSends>
inline ChannelEnd ChannelState::actOrWait(Transfer& mine, TimePoint deadline, const std::stop_token* token) {
  if (capacity() != 0 && deadline != kWithoutWaiting && !isClosed() && awaitBatch<kSends>(mine)) {
    return ChannelEnd::Done;
  }
  constexpr const char* kWhat = kSends ? "Channel::send" : "Channel::receive";
  for (;;) {
    Waiter* self = nullptr;
    WaitList* waiters = nullptr;
    bool isLimited = false;
    {
      Section section(*this);
      const ChannelEnd end = kSends ? ChannelCore::send(section, mine) : ChannelCore::receive(section, mine);
      if (end != ChannelEnd::WouldWait || deadline == kWithoutWaiting ||
          (token != nullptr && token->stop_requested())) {
        return end;
      }
      self = &inlined::currentWaiter();
      self->data = &mine;
      waiters = kSends ? &senders() : &receivers();
      waiters->pushBack(*self);
      isLimited = deadline != kNever || token != nullptr;
      if (isLimited) {
        retain();
      }
    }
    const ReleaseAtEnd release{isLimited ? this : nullptr};
    if (!isLimited) [[likely]] {
      inlined::block(*self, kWhat, this);
    } else if (!waitLimited(*self, *waiters, deadline, token != nullptr ? *token : std::stop_token(),
                            kWhat)) {
      // relaxed: the handle of the caller is there still, unless it was destroyed before its time.
      assertNobodyWaits(references.load(std::memory_order_relaxed) > 1);
      return ChannelEnd::WouldWait;
    }
    mine.error.rethrow();
    if (const auto end = static_cast<ChannelEnd>(self->mark); end != ChannelEnd::Retry) {
      return end;
    }
  }
}

ChannelEnd ChannelState::send(void* from, const ValueType& how, TimePoint deadline,
                              const std::stop_token* token) {
  Transfer mine{from, &how, {}};
  return actOrWait<true>(mine, deadline, token);
}

ChannelEnd ChannelState::receive(void* to, TimePoint deadline, const std::stop_token* token) {
  Transfer mine{to, nullptr, {}};
  const ChannelEnd end = actOrWait<false>(mine, deadline, token);
  if (end == ChannelEnd::Closed) [[unlikely]] {
    Shared<ChannelState>::assertUsable(*this);
  }
  return end;
}

void ChannelState::close() {
  Section section(*this);
  ChannelCore::close(section);
}

size_t ChannelState::numWaiting() {
  const Section section(*this);
  size_t count = 0;
  for (const WaitList* list : {&senders(), &receivers()}) {
    for (const Waiter* waiter = list->front(); waiter != nullptr; waiter = waiter->next) {
      ++count;
    }
  }
  return count;
}

}  // namespace detail
}  // namespace weft::inline v0_1
