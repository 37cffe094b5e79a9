// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Writes one recording with odd names and numbers for Chrome and for Perfetto: timeline_program JSON PERFETTO

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <string_view>

#include "inspect/chrome_json.h"
#include "inspect/file_output.h"
#include "inspect/perfetto_trace.h"
#include "inspect/text.h"

namespace {

using namespace weft::detail::inspect;
using namespace std::string_view_literals;

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kBegin = 123'456'789'012'345'678;
constexpr std::string_view kOdd = "q\" b\\ n\n z\0 u\xc3\xa4 bad\xff\xe2\x82"sv;

void record(TimelineWriter& writer) {
  const TimelineTrack thread{1, TrackKind::Thread, "worker 0", -1, 4711};
  const TimelineTrack fiber{2, TrackKind::Fiber, kOdd, std::numeric_limits<int32_t>::min(), 0};
  const TimelineTrack counter{3, TrackKind::Counter, "ready fibers", 5, 0};
  writer.begin({7, "a \"program\"", kBegin});
  writer.addTrack(thread);
  const TimelineArgument arguments[] = {{"odd", kOdd}, {"largest", kMax}, {"none", uint64_t{0}}};
  writer.beginSlice(thread, {kBegin + 1, "run", "task", arguments});
  writer.instant(thread, {kBegin + 2, "wake", "wake", {}, kMax, 0});
  writer.instant(thread, {kBegin + 3, "steal"});
  writer.endSlice(thread, kBegin + 1'000'000);
  writer.addTrack(fiber);
  writer.beginSlice(fiber, {kBegin + 4, kOdd, "task", {}, 0, kMax});
  writer.endSlice(fiber, kBegin + 5);
  writer.addTrack(counter);
  writer.counter(counter, kBegin, -0.5);
  writer.counter(counter, kBegin + 6, std::numeric_limits<double>::max());
  writer.counter(counter, kBegin + 7, std::numeric_limits<double>::infinity());
  writer.asyncBegin(kMax, kBegin, "read");
  writer.asyncEnd(kMax, kBegin + 8, "read");
  const std::string_view notes[] = {"12,345 older events were overwritten", kOdd};
  writer.end(notes);
}

template <class Record>
bool writeFile(const char* path, const Record& recordTo) {
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  FileOutput output(file);
  {
    Text text(&FileOutput::write, &output);
    recordTo(text);
  }
  if (output.error() != 0) {
    std::fprintf(stderr, "%s: %s\n", path, std::strerror(output.error()));
  }
  ::close(file);
  return output.error() == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto forChrome = [](Text& text) {
    ChromeJson writer(text, std::pmr::get_default_resource());
    record(writer);
  };
  const auto forPerfetto = [](Text& text) {
    PerfettoTrace writer(text, std::pmr::get_default_resource());
    record(writer);
  };
  return argc == 3 && writeFile(argv[1], forChrome) && writeFile(argv[2], forPerfetto) ? 0 : 1;
}
