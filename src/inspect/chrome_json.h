// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inspect/text.h"
#include "inspect/timeline_writer.h"

namespace weft::inline v0_1::detail::inspect {

// Chrome's trace event format, as an object of JSON with one event a line. It is described in "Trace Event
// Format", which https://www.chromium.org/developers/how-tos/trace-event-profiling-tool names.
//
// A slice is one event with its duration, which is written when the slice ends. Chromium's DevTools need
// that: they pair the beginnings and ends of all rows of a process with each other.
class ChromeJson final : public TimelineWriter {
 public:
  // `memory`: for the slices that are open. It outlives the object.
  ChromeJson(Text& out, std::pmr::memory_resource* memory) : out_(out), slices_(memory), tops_(memory) {}

  void begin(const TimelineHead& head) override;
  void addTrack(const TimelineTrack& track) override;
  void beginSlice(const TimelineTrack& track, const TimelineEvent& event) override;
  void endSlice(const TimelineTrack& track, uint64_t ns) override;
  void instant(const TimelineTrack& track, const TimelineEvent& event) override;
  void counter(const TimelineTrack& track, uint64_t ns, double value) override;
  void asyncBegin(uint64_t id, uint64_t ns, std::string_view name) override;
  void asyncEnd(uint64_t id, uint64_t ns, std::string_view name) override;
  void end(std::span<const std::string_view> notes) override;

 private:
  static constexpr uint32_t kNothing = ~uint32_t{0};

  // Or one that was open, whose memory the next one takes.
  struct OpenSlice {
    explicit OpenSlice(std::pmr::memory_resource* memory) : text(memory), inner(memory) {}

    uint64_t ns = 0;
    uint64_t arrowOut = 0;
    uint64_t arrowIn = 0;
    std::pmr::string text;      // of its event, without the duration and what comes after it
    std::pmr::string inner;     // whole events of slices in it that begin with it
    uint32_t below = kNothing;  // the slice around it, or the next one that is not open
  };

  void open(Text& out, char phase, uint32_t row);
  void openAt(Text& out, char phase, uint32_t row, uint64_t ns);
  void metadata(uint32_t row, std::string_view what, std::string_view name);
  void writeSlice(Text& out, uint32_t row, const OpenSlice& slice, uint64_t end);
  void arrow(Text& out, char phase, uint32_t row, uint64_t ns, uint64_t id);
  void async(char phase, uint64_t id, uint64_t ns, std::string_view name);

  Text& out_;
  std::pmr::vector<OpenSlice> slices_;
  std::pmr::unordered_map<uint32_t, uint32_t> tops_;  // the innermost open slice of each track
  uint32_t free_ = kNothing;
  uint32_t processId_ = 0;
  uint64_t firstNs_ = 0;
  bool isFirst_ = true;
};

}  // namespace weft::inline v0_1::detail::inspect
