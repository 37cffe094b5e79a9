// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace weft::inline v0_1::detail::inspect {

// What a picture is of.
struct TimelineHead {
  uint32_t processId = 0;
  std::string_view program;  // the name of its file
  uint64_t firstNs = 0;      // no event is earlier
};

enum class TrackKind { Thread, Fiber, Counter };

// A row of the picture. Rows of a kind are sorted by `order`, except Perfetto's threads, which stand by their
// numbers.
struct TimelineTrack {
  uint32_t id = 0;  // unique in the file, from 1 to 2^31 - 1
  TrackKind kind = TrackKind::Thread;
  std::string_view name;
  int32_t order = 0;
  uint32_t threadId = 0;  // the system's number of a Thread
};

// What a viewer shows of an event that is clicked: a text or a number.
struct TimelineArgument {
  TimelineArgument(std::string_view argument, std::string_view value)
      : name(argument), text(value), isText(true) {}
  TimelineArgument(std::string_view argument, uint64_t value) : name(argument), number(value) {}

  std::string_view name;
  std::string_view text;
  uint64_t number = 0;
  bool isText = false;
};

// The beginning of a slice, or an instant. An arrow leads from the event that has its number as `arrowOut` to
// the one that has it as `arrowIn`, on any track. Each arrow has a number of its own; 0 is none.
struct TimelineEvent {
  uint64_t ns = 0;
  std::string_view name;
  std::string_view category = "weft";
  std::span<const TimelineArgument> arguments = {};
  uint64_t arrowOut = 0;
  uint64_t arrowIn = 0;
};

// Writes a file that ui.perfetto.dev and chrome://tracing draw: ChromeJson for both, PerfettoTrace for the
// first alone, in less space. No call keeps references to its arguments. Names may be any bytes; what is no
// UTF-8 is replaced.
//
// Times are nanoseconds of steady_clock. The events of a track come in the order of time. Events of different
// tracks come in any order. The end of a slice is that of the innermost one of its track. All slices end
// before end().
//
// Where there is no memory, beginSlice() and instant() throw std::bad_alloc. Then the slices that are open on
// that track are to be ended, each by a call, at one time. It does no harm to end the one that failed, too.
//
// Both viewers draw Thread and Fiber as rows of nested slices, and Counter as a curve. An instant is a small
// mark. In chrome://tracing arrows join slices only: of an instant with an arrow ChromeJson makes a slice
// without length.
class TimelineWriter {
 public:
  virtual void begin(const TimelineHead& head) = 0;       // comes first
  virtual void addTrack(const TimelineTrack& track) = 0;  // comes before its events

  virtual void beginSlice(const TimelineTrack& track, const TimelineEvent& event) = 0;
  virtual void endSlice(const TimelineTrack& track, uint64_t ns) = 0;
  virtual void instant(const TimelineTrack& track, const TimelineEvent& event) = 0;
  // Leaves out what is not finite.
  virtual void counter(const TimelineTrack& track, uint64_t ns, double value) = 0;

  // A slice of no track, which may end on another thread. Both calls say one `id` and one name. Viewers draw
  // the slices of a name together, below each other while they overlap.
  virtual void asyncBegin(uint64_t id, uint64_t ns, std::string_view name) = 0;
  virtual void asyncEnd(uint64_t id, uint64_t ns, std::string_view name) = 0;

  // Completes the file, with sentences about the whole recording, as "12,345 older events were overwritten".
  // Viewers show each as a mark at the recording's beginning, chrome://tracing also under "Metadata".
  virtual void end(std::span<const std::string_view> notes) = 0;

 protected:
  ~TimelineWriter() = default;
};

}  // namespace weft::inline v0_1::detail::inspect
