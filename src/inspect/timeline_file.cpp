// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/timeline_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "inspect/chrome_json.h"
#include "inspect/file_output.h"
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

TimelineFileResult writeTimelineFileAt(const char* path, const Recording& recording, Names& names,
                                       const Memory& memory, TimelineFormat format) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    return {TimelineFileResult::Failed::Open, errno};
  }
  FileOutput output(file);
  try {
    Text text(&FileOutput::write, &output);
    writeTimelineFile(recording, names, memory, format, text);
  } catch (...) {
    close(file);
    throw;
  }
  const int closeError = close(file) == 0 ? 0 : errno;
  const int error = output.error() != 0 ? output.error() : closeError;
  return {error != 0 ? TimelineFileResult::Failed::Write : TimelineFileResult::Failed::Nothing, error};
}

}  // namespace weft::inline v0_1::detail::inspect
