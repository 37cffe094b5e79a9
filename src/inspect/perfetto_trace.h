// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>

#include "inspect/interned_texts.h"
#include "inspect/protobuf_writer.h"
#include "inspect/text.h"
#include "inspect/timeline_writer.h"

namespace weft::inline v0_1::detail::inspect {

// Perfetto's trace: a row of packets, which are messages of Protocol Buffers. The public description of the
// format is https://github.com/google/perfetto/tree/main/protos/perfetto/trace.
//
// Names and texts of events are interned: each is written once, and events have its number.
class PerfettoTrace final : public TimelineWriter {
 public:
  // `memory`: for the texts that are interned. It outlives the object. Where it has none left, further texts
  // are written in full.
  PerfettoTrace(Text& out, std::pmr::memory_resource* memory) : out_(out), texts_(memory) {}

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
  void intern(uint32_t field, std::string_view text);
  void internAll(const TimelineEvent& event);
  void writeText(ProtobufWriter& out, uint32_t interned, uint32_t numberField, uint32_t textField,
                 std::string_view text) const;
  void writeDescription(ProtobufWriter& out, const TimelineEvent& event) const;
  template <class Write>
  void event(uint64_t row, uint64_t ns, uint64_t type, const Write& write);
  void describedEvent(uint64_t row, uint64_t type, const TimelineEvent& described);
  void addGroup(uint64_t row, std::string_view name, int32_t order);

  Text& out_;
  InternedTexts texts_;
  uint32_t processId_ = 0;
  uint64_t firstNs_ = 0;
};

}  // namespace weft::inline v0_1::detail::inspect
