// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "inspect/timeline_writer.h"

namespace weft::inline v0_1::detail::inspect {

// The categories of slices.
inline constexpr std::string_view kTaskCategory = "task";
inline constexpr std::string_view kWaitCategory = "wait";
inline constexpr std::string_view kReadyCategory = "ready";
inline constexpr std::string_view kIdleCategory = "idle";
inline constexpr std::string_view kScopeCategory = "scope";

// Writes on the tracks of one thread and its fibers what happens at the time `now`. Writes nothing on a track
// that has not been added, whose id is 0: what a thread has recorded can be followed to find its tracks.
class TrackPen {
 public:
  explicit TrackPen(TimelineWriter& writer) : writer_(writer) {}

  void beginSlice(const TimelineTrack& track, std::string_view name, std::string_view category,
                  std::span<const TimelineArgument> arguments = {}, uint64_t arrowIn = 0) const {
    if (track.id != 0) {
      writer_.beginSlice(
          track, {.ns = now, .name = name, .category = category, .arguments = arguments, .arrowIn = arrowIn});
    }
  }
  void endSlice(const TimelineTrack& track) const {
    if (track.id != 0) {
      writer_.endSlice(track, now);
    }
  }
  void instant(const TimelineTrack& track, std::string_view name,
               std::span<const TimelineArgument> arguments = {}, uint64_t arrowOut = 0) const {
    if (track.id != 0) {
      writer_.instant(track, {.ns = now, .name = name, .arguments = arguments, .arrowOut = arrowOut});
    }
  }

  uint64_t now = 0;  // not earlier than the events that the track has already

 private:
  TimelineWriter& writer_;
};

}  // namespace weft::inline v0_1::detail::inspect
