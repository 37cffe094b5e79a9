// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "inspect/memory.h"
#include "inspect/names.h"
#include "inspect/recording.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {

enum class TimelineFormat : uint8_t { Perfetto, ChromeJson };

// Returns: ChromeJson for a path that ends with ".json", else Perfetto.
TimelineFormat timelineFormatOf(std::string_view path);

// Writes a recording as such a file: see writeTimeline().
void writeTimelineFile(const Recording& recording, Names& names, const Memory& memory, TimelineFormat format,
                       Text& out);

struct TimelineFileResult {
  enum class Failed : uint8_t { Nothing, Open, Write };  // Write: the file is there, and not complete

  Failed failed = Failed::Nothing;
  int error = 0;  // errno of what failed
};

// Writes a recording to the file at `path`, in place of what the file had. May throw std::bad_alloc.
TimelineFileResult writeTimelineFileAt(const char* path, const Recording& recording, Names& names,
                                       const Memory& memory, TimelineFormat format);

}  // namespace weft::inline v0_1::detail::inspect
