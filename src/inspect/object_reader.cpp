// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/object_reader.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "inspect/object_waiters.h"

namespace weft::inline v0_1::detail::inspect {

// A kind of objects, and where the words lie that say what one of them holds.
struct ObjectReader::Kind {
  std::string_view what;
  ObjectState::Kind kind;
  Address Offsets::* words[kMostWords];  // null: no more
};

using State = ObjectState::Kind;

constexpr ObjectReader::Kind ObjectReader::kKinds[] = {
    {"WaitGroup", State::Count, {&Offsets::waitGroupWord}},
    {"Latch", State::Count, {&Offsets::latchWord}},
    {"Barrier", State::Arrivals, {&Offsets::barrierWord}},
    {"Event", State::Event, {&Offsets::eventIsManual}},
    {"SharedMutex", State::Readers, {&Offsets::sharedMutexWord}},
    // The head is read before the tail, which is never behind it.
    {kReceive, State::Values, {&Offsets::channelCapacity, &Offsets::channelHead, &Offsets::channelTail}},
    {kSend, State::Values, {&Offsets::channelCapacity, &Offsets::channelHead, &Offsets::channelTail}},
};

ObjectReader::ObjectReader(const Memory& memory, const Offsets& offsets, Snapshot& snapshot)
    : memory_(memory),
      offsets_(offsets),
      snapshot_(snapshot),
      words_(snapshot.fibers.get_allocator()),
      pieces_(snapshot.fibers.get_allocator()),
      objects_(snapshot.fibers.get_allocator()) {}

void ObjectReader::read(std::span<const uint32_t> fibers) {
  words_.clear();
  words_.reserve(fibers.size());  // pieces_ points there
  pieces_.clear();
  objects_.assign(fibers.size(), kNone);
  for (size_t i = 0; i < fibers.size(); ++i) {
    const Fiber& fiber = snapshot_.fibers[fibers[i]];
    const Kind* const kind = kindOf(fiber);
    if (kind == nullptr) {
      continue;
    }
    const bool isBefores = i != 0 && snapshot_.fibers[fibers[i - 1]].object == fiber.object &&
                           snapshot_.fibers[fibers[i - 1]].what == fiber.what && objects_[i - 1] != kNone;
    if (!isBefores) {
      Words& words = words_.emplace_back();
      for (; words.count < kMostWords && kind->words[words.count] != nullptr; ++words.count) {
        uint64_t& value = words.value[words.count];
        pieces_.push_back({fiber.object + offsets_.*kind->words[words.count], &value, sizeof value, false});
      }
    }
    objects_[i] = static_cast<uint32_t>(words_.size() - 1);
  }
  memory_.readMany(pieces_.data(), pieces_.size());
  auto piece = pieces_.begin();
  for (Words& words : words_) {
    words.isRead = std::all_of(piece, piece + static_cast<ptrdiff_t>(words.count),
                               [](const Memory::Piece& each) { return each.isRead; });
    piece += static_cast<ptrdiff_t>(words.count);
  }
  for (size_t i = 0; i < fibers.size(); ++i) {
    if (objects_[i] != kNone && words_[objects_[i]].isRead) {
      Fiber& fiber = snapshot_.fibers[fibers[i]];
      fiber.objectState = describe(*kindOf(fiber), words_[objects_[i]]);
    }
  }
}

const ObjectReader::Kind* ObjectReader::kindOf(const Fiber& fiber) const {
  if (fiber.state != Fiber::State::Blocked || fiber.what >= snapshot_.names.size()) {
    return nullptr;
  }
  const Kind* const found =
      std::ranges::find(kKinds, std::string_view(snapshot_.names[fiber.what]), &Kind::what);
  return found != std::end(kKinds) ? found : nullptr;
}

ObjectState ObjectReader::describe(const Kind& kind, const Words& words) const {
  ObjectState state;
  state.kind = kind.kind;
  const uint64_t first = words.value[0];
  switch (kind.kind) {
    case State::Unknown:
      break;
    case State::Count:
      state.count = static_cast<uint32_t>(first) >> offsets_.waitWordShift;
      break;
    case State::Arrivals:
      state.count = (first & ((uint64_t{1} << offsets_.barrierPhaseShift) - 1)) >> offsets_.waitWordShift;
      break;
    case State::Event:
      state.isManual = static_cast<uint8_t>(first) != 0;
      break;
    case State::Readers:
      state.count = first >> offsets_.sharedMutexReaderShift;
      break;
    case State::Values: {
      const uint64_t head = words.value[1] >> offsets_.channelShift;
      const uint64_t tail = words.value[2] >> offsets_.channelShift;
      state.capacity = static_cast<size_t>(first);
      state.count = tail > head ? std::min(tail - head, state.capacity) : 0;
      state.isClosed = (words.value[2] & offsets_.channelClosed) != 0;
      break;
    }
  }
  return state;
}

}  // namespace weft::inline v0_1::detail::inspect
