// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "inspect/arena.h"
#include "inspect/image_names.h"
#include "inspect/recording.h"
#include "inspect/recording_reader.h"
#include "inspect/timeline_file.h"
#include "tools/command.h"
#include "tools/observed.h"
#include "tools/output.h"
#include "tools/target.h"

namespace weft::inline v0_1::detail::tools {
namespace {

constexpr char kTraceHelp[] =
    "Writes what the flight recorder of a process holds: the newest events of each thread, as a picture for\n"
    "https://ui.perfetto.dev. The process records after weft::trace::start(), or if it was started with\n"
    "WEFT_TRACE=PATH in its environment.\n"
    "\n"
    "  -o PATH        the file; one that ends with \".json\" is in Chrome's format, any other in "
    "Perfetto's,\n"
    "                 which takes less space. Without it, weft.pftrace\n"
    "  --binary PATH  the program or a library, with the symbols that the one which runs was stripped of.\n"
    "                 May be given several times.\n"
    "\n"
    "PID is a process that runs: it goes on meanwhile. CORE is the core file of a process that has ended.\n";

// A program may hold several copies of weft. Returns: what the one that records, or has recorded, holds.
bool read(const Target& target, inspect::Recording& recording) {
  for (const inspect::Offsets& offsets : target.offsets()) {
    if (inspect::readRecording(target.memory(), offsets, recording)) {
      return true;
    }
  }
  return false;
}

ClockReading readingOf(Target& target) {
  return target.core() == nullptr
             ? ClockReading::now()
             : Observed(target, {.hasStacks = false, .mayBeEmpty = true}).snapshot().lastReading;
}

void writeFile(const std::string& path, const inspect::Recording& recording, Target& target) {
  inspect::Arena arena;
  inspect::ImageNames names(target.images(), &arena);
  const inspect::TimelineFileResult result = inspect::writeTimelineFileAt(
      path.c_str(), recording, names, target.memory(), inspect::timelineFormatOf(path));
  if (result.error != 0) {
    failToWrite(path, result.error, "trace");
  }
}

int trace(Arguments arguments) {
  std::string path = "weft.pftrace";
  std::vector<std::string> binaries;
  Options options(arguments);
  while (options.next()) {
    if (options.is("-o")) {
      path = options.value();
    } else if (options.is("--binary")) {
      binaries.emplace_back(options.value());
    } else {
      options.failUnknown("trace");
    }
  }
  Target target(options.only("trace", "the number of a process or a core file"), binaries);
  inspect::Arena arena;
  inspect::Recording recording(&arena);
  recording.processId = target.processId();
  recording.program = target.program();
  if (!read(target, recording)) {
    target.checkThatItLives();
    throw Failure(
        target.name() +
        " has recorded nothing: have it call weft::trace::start(), or start it with WEFT_TRACE=PATH "
        "in the environment");
  }
  recording.last = readingOf(target);
  writeFile(path, recording, target);
  return 0;
}

}  // namespace

constinit const Command kTrace = {"trace", "[-o PATH] [--binary PATH]... PID|CORE",
                                  "writes what the flight recorder holds, for Perfetto", kTraceHelp, trace};

}  // namespace weft::inline v0_1::detail::tools
