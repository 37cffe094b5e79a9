// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "inspect/protobuf_writer.h"
#include "inspect/text.h"
#include "inspect/timeline_writer.h"

namespace weft::inline v0_1::detail::inspect {

// Perfetto's trace: a row of packets, which are messages of Protocol Buffers. The public description of the
// format is https://github.com/google/perfetto/tree/main/protos/perfetto/trace.
class PerfettoTrace final : public TimelineWriter {
 public:
  explicit PerfettoTrace(Text& out) : out_(out) {}

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
  template <class Write>
  void packet(uint64_t ns, const Write& write);
  template <class Write>
  void event(uint64_t row, uint64_t ns, uint64_t type, const Write& write);
  void describedEvent(uint64_t row, uint64_t type, const TimelineEvent& described);
  void addGroup(uint64_t row, std::string_view name, int32_t order);

  Text& out_;
  uint32_t processId_ = 0;
  uint64_t firstNs_ = 0;
};

}  // namespace weft::inline v0_1::detail::inspect
