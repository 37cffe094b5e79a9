// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "inspect/text.h"
#include "inspect/timeline_writer.h"

namespace weft::inline v0_1::detail::inspect {

// Chrome's trace event format, as an object of JSON with one event a line. It is described in "Trace Event
// Format", which https://www.chromium.org/developers/how-tos/trace-event-profiling-tool names.
class ChromeJson final : public TimelineWriter {
 public:
  explicit ChromeJson(Text& out) : out_(out) {}

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
  void open(char phase, uint32_t row);
  void openAt(char phase, uint32_t row, uint64_t ns);
  void quoted(std::string_view text);
  void member(std::string_view name, std::string_view text);
  void signedNumber(int64_t value);
  void metadata(uint32_t row, std::string_view what, std::string_view name);
  void describe(const TimelineEvent& event);
  void arrows(const TimelineTrack& track, const TimelineEvent& event);
  void arrow(char phase, const TimelineTrack& track, uint64_t ns, uint64_t id);
  void async(char phase, uint64_t id, uint64_t ns, std::string_view name);

  Text& out_;
  uint32_t processId_ = 0;
  uint64_t firstNs_ = 0;
  bool isFirst_ = true;
};

}  // namespace weft::inline v0_1::detail::inspect
