// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "drawn_timeline.h"
#include "hand_made.h"
#include "inspect/memory.h"
#include "inspect/recording.h"
#include "inspect/timeline.h"
#include "inspect/trace_events.h"

namespace weft::tests {

using detail::inspect::Memory;
using detail::inspect::Recording;
using detail::inspect::TraceEvent;
using detail::inspect::TraceKind;
using detail::inspect::withFiber;

// The texts of a process, from kTexts on.
class TextMemory final : public Memory {
 public:
  static constexpr Address kTexts = 0x10000;

  Address add(std::string_view text) {
    const Address address = kTexts + bytes_.size();
    bytes_.append(text).push_back('\0');
    return address;
  }

  bool read(Address address, void* to, size_t size) const override {
    constexpr size_t kPage = 4096;
    const size_t end = kTexts + (bytes_.size() + kPage - 1) / kPage * kPage;
    if (address < kTexts || address >= end || size > end - address) {
      return false;
    }
    std::memset(to, 0, size);
    const size_t first = address - kTexts;
    if (first < bytes_.size()) {
      std::memcpy(to, bytes_.data() + first, std::min(size, bytes_.size() - first));
    }
    return true;
  }

 private:
  std::string bytes_;
};

// A recording that is made by hand: a tick is a nanosecond.
struct MadeRecording {
  explicit MadeRecording(std::pmr::memory_resource* resource = std::pmr::get_default_resource())
      : recording(resource) {
    recording.first = {0, 0};
    recording.last = {1'000'000'000, 1'000'000'000};
  }

  void thread(int32_t id = 4711, std::string_view name = {}) {
    Recording::Thread& thread = recording.addThread();
    thread.number = static_cast<uint32_t>(recording.threads.size());
    thread.threadId = id;
    thread.name = name;
  }

  MadeRecording& at(uint64_t ticks) {
    now = ticks;
    return *this;
  }
  template <std::integral Operand = uint64_t>
  MadeRecording& add(TraceKind kind, Operand operand = 0) {
    const auto word = static_cast<uint64_t>(operand);
    recording.threads.back().events.push_back({TraceEvent::headOf(kind, now), word});
    return *this;
  }
  MadeRecording& add(TraceKind kind, std::string_view text) { return add(kind, memory.add(text)); }
  MadeRecording& woke(uint64_t thread, uint64_t fiber) {
    return add(TraceKind::Woke, withFiber(thread, static_cast<uint32_t>(fiber)));
  }
  MadeRecording& text(std::string_view text) {
    for (bool isEnded = false; !isEnded;) {
      uint64_t words[2] = {};
      char bytes[16] = {static_cast<char>(TraceKind::Text)};
      const size_t length = std::min<size_t>(text.size(), 15);
      std::memcpy(bytes + 1, text.data(), length);
      std::memcpy(words, bytes, sizeof words);
      if constexpr (std::endian::native == std::endian::big) {  // the kind is the lowest byte of a head
        words[0] = __builtin_bswap64(words[0]);
        words[1] = __builtin_bswap64(words[1]);
      }
      recording.threads.back().events.push_back({words[0], words[1]});
      isEnded = length < 15;
      text.remove_prefix(length);
    }
    return *this;
  }

  void drawTo(DrawnTimeline& timeline) {
    FakeNames names;
    writeTimeline(recording, names, memory, timeline);
  }
  std::string draw() {
    DrawnTimeline timeline;
    drawTo(timeline);
    EXPECT_TRUE(timeline.hasEnded);
    timeline.checkArrows();
    notes = timeline.notes;
    return timeline.text();
  }

  Recording recording;
  TextMemory memory;
  uint64_t now = 0;
  std::vector<std::string> notes;
};

}  // namespace weft::tests
