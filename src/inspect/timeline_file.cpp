// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/timeline_file.h"

#include "inspect/chrome_json.h"
#include "inspect/perfetto_trace.h"
#include "inspect/timeline.h"

namespace weft::inline v0_1::detail::inspect {

TimelineFormat timelineFormatOf(std::string_view path) {
  return path.ends_with(".json") ? TimelineFormat::ChromeJson : TimelineFormat::Perfetto;
}

void writeTimelineFile(const Recording& recording, Names& names, const Memory& memory, TimelineFormat format,
                       Text& out) {
  if (format == TimelineFormat::ChromeJson) {
    ChromeJson writer(out, recording.memory());
    writeTimeline(recording, names, memory, writer);
  } else {
    PerfettoTrace writer(out, recording.memory());
    writeTimeline(recording, names, memory, writer);
  }
}

}  // namespace weft::inline v0_1::detail::inspect
