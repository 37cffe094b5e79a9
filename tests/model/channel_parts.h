// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <mutex>

#include <weft/detail/channel/core.h>
#include <weft/detail/park/parker.h>
#include <weft/detail/wait/select_node.h>

#include "explore.h"

// What the models of channels and of select share: values whose accesses the checker sees, and threads that
// wait.
namespace weft::model {

// One who waits. A wake is delivered exactly once.
struct Thread : detail::Waiter {
  void wait() { parker.park(); }
  // Whether the time was up first, as the checker likes.
  bool isTimeUp() { return !parker.parkUntil(detail::TimePoint()); }

  detail::Parker<RelacySync> parker;
};

// Of a select, in its frame.
struct Node : detail::SelectNode<RelacySync> {
  RelacySync::Var<int> isUsed;
};

struct Host {
  static bool claim(detail::Waiter& waiter) {
    check(!waiter.isOfSelect || static_cast<Node&>(waiter).isUsed.get() == 1, "the frame is there still");
    return detail::claim<RelacySync>(waiter);
  }
  static detail::Waiter& owner(detail::Waiter& waiter) { return detail::ownerOf<RelacySync>(waiter); }
  static void wake(detail::Waiter& waiter) { static_cast<Thread&>(waiter).parker.unpark(); }
};

using Core = detail::ChannelCore<RelacySync, Host>;
using detail::ChannelEnd;
using detail::Transfer;

// A value, in a slot or with one who sends or receives: moving it writes both ends, so that the checker sees
// each race.
struct Cell {
  RelacySync::Var<int> value;

  static void move(void* to, void* from) {
    static_cast<Cell*>(to)->value.set(static_cast<Cell*>(from)->value.get());
    static_cast<Cell*>(from)->value.set(0);
  }
  static void destroy(void*) {}
};
inline constexpr detail::ValueType kCells = {sizeof(Cell), alignof(Cell), &Cell::move,
                                             &Cell::move,  &Cell::move,   &Cell::destroy};

template <size_t kCapacity>
struct Channel {
  Cell slots[kCapacity == 0 ? 1 : kCapacity];
  Core core{kCells, kCapacity, kCapacity, reinterpret_cast<unsigned char*>(slots)};
};

// As ChannelState: the usual way, then with both locks, then waiting. Returns: WouldWait if the time was up.
template <bool kSends>
ChannelEnd act(Core& core, Cell& mine, Thread& self, bool isTimed = false) {
  if (kSends ? core.tryPut(1, [&](void* slot) { Cell::move(slot, &mine); })
             : core.tryGet(1, [&](void* slot) { Cell::move(&mine, slot); })) {
    return ChannelEnd::Done;
  }
  Transfer transfer{&mine, &core.type(), {}};
  {
    Core::Section section(core);
    const ChannelEnd end = kSends ? core.send(section, transfer) : core.receive(section, transfer);
    if (end != ChannelEnd::WouldWait) {
      return end;
    }
    self.data = &transfer;
    self.mark = 0xff;  // what another wait has left there
    (kSends ? core.senders() : core.receivers()).pushBack(self);
  }
  if (!isTimed) {
    self.wait();
  } else if (self.isTimeUp()) {
    Core::Section section(core, std::defer_lock);
    if (detail::unlinkIfLinked(self, section, kSends ? core.senders() : core.receivers())) {
      return ChannelEnd::WouldWait;
    }
    self.wait();
  }
  return static_cast<ChannelEnd>(self.mark);
}

// What a thread sends and receives, one value at a time.
struct Party {
  ChannelEnd send(Core& core, int value, bool isTimed = false) {
    mine.value.set(value);
    return act<true>(core, mine, self, isTimed);
  }
  ChannelEnd receive(Core& core, int& value, bool isTimed = false) {
    const ChannelEnd end = act<false>(core, mine, self, isTimed);
    value = end == ChannelEnd::Done ? mine.value.get() : 0;
    return end;
  }

  Cell mine;
  Thread self;
};

}  // namespace weft::model
