// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "inspect/memory.h"
#include "inspect/names.h"
#include "inspect/recorded_names.h"
#include "inspect/recording.h"
#include "inspect/thread_labels.h"
#include "inspect/timeline_writer.h"
#include "inspect/wake_arrows.h"

namespace weft::inline v0_1::detail::inspect {

// What the threads of a recording share on the way into a picture.
struct TimelineParts {
  struct CounterValue {
    std::string_view name;
    uint64_t time;
    uint64_t ordinal;
    double value;
  };
  struct AsyncEvent {
    std::string_view name;
    uint64_t id;
    uint64_t time;
    uint64_t ordinal;
    bool isEnd;
  };

  TimelineParts(const Recording& itsRecording, Names& itsNames, const Memory& memory,
                TimelineWriter& itsWriter)
      : recording(itsRecording),
        writer(itsWriter),
        names(itsNames, memory, itsRecording.memory()),
        counters(itsRecording.memory()),
        asyncs(itsRecording.memory()),
        notes(itsRecording.memory()) {}

  const Recording& recording;
  TimelineWriter& writer;
  RecordedNames names;
  std::optional<ThreadLabels> labels;
  std::optional<WakeArrows> arrows;
  uint32_t numTracks = 0;
  uint64_t end = 0;  // of the last thread, in nanoseconds
  std::pmr::vector<CounterValue> counters;
  std::pmr::vector<AsyncEvent> asyncs;
  std::pmr::vector<std::string_view> notes;
};

}  // namespace weft::inline v0_1::detail::inspect
