// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/timeline.h"

#include <algorithm>
#include <new>
#include <span>
#include <string_view>
#include <tuple>

#include "inspect/phrases.h"
#include "inspect/recorded_events.h"
#include "inspect/short_text.h"
#include "inspect/text.h"
#include "inspect/thread_timeline.h"
#include "inspect/timeline_parts.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

class TimelineOfAll {
 public:
  TimelineOfAll(const Recording& recording, Names& names, const Memory& memory, TimelineWriter& writer)
      : recording_(recording),
        writer_(writer),
        parts_(recording, names, memory, writer),
        begin_(beginning()) {}

  void write() {
    TimelineHead head;
    head.processId = static_cast<uint32_t>(recording_.processId);
    head.program = std::string_view(recording_.program).substr(recording_.program.rfind('/') + 1);
    head.firstNs = begin_;
    writer_.begin(head);
    try {
      parts_.labels.emplace(recording_, parts_.names);
      parts_.arrows.emplace(recording_);
      for (uint32_t i = 0; i < recording_.threads.size(); ++i) {
        ThreadTimeline(parts_, i).write();
      }
      writeCounters();
      writeAsyncs();
      noteRefused();
    } catch (const std::bad_alloc&) {
      constexpr std::string_view kNote = "There was no memory for all of the picture.";
      writer_.end(std::span(&kNote, 1));
      return;
    }
    writer_.end(parts_.notes);
  }

 private:
  // Returns: a time before which nothing happens.
  uint64_t beginning() const {
    const RecordedClock clock(recording_);
    uint64_t begin = clock.nanoseconds(recording_.last.ticks);
    if (recording_.startedAt != 0) {
      begin = std::min(begin, clock.nanoseconds(recording_.startedAt));
    }
    for (const Recording::Thread& thread : recording_.threads) {
      RecordedEvents events(recording_, thread);
      RecordedEvent event;
      if (events.next(event)) {
        begin = std::min(begin, event.time);
      }
    }
    return begin;
  }

  void writeCounters();
  void writeAsyncs();
  void writeAsyncsOfOne(std::span<const TimelineParts::AsyncEvent> events);
  void noteRefused();

  const Recording& recording_;
  TimelineWriter& writer_;
  TimelineParts parts_;
  const uint64_t begin_;
};

void TimelineOfAll::writeCounters() {
  std::ranges::sort(parts_.counters, [](const auto& a, const auto& b) {
    return std::tie(a.name, a.time, a.ordinal) < std::tie(b.name, b.time, b.ordinal);
  });
  TimelineTrack track;
  track.kind = TrackKind::Counter;
  for (const TimelineParts::CounterValue& counter : parts_.counters) {
    if (track.id == 0 || track.name != counter.name) {
      track.id = ++parts_.numTracks;
      track.name = counter.name;
      track.order = static_cast<int32_t>(track.id);
      writer_.addTrack(track);
    }
    writer_.counter(track, counter.time, counter.value);
  }
}

void TimelineOfAll::writeAsyncs() {
  auto& all = parts_.asyncs;
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return std::tie(a.name, a.id, a.time, a.isEnd, a.ordinal) <
           std::tie(b.name, b.id, b.time, b.isEnd, b.ordinal);
  });
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [first](const TimelineParts::AsyncEvent& event) {
      return event.name != first->name || event.id != first->id;
    });
    writeAsyncsOfOne({first, last});
    first = last;
  }
}

// Of one name and number. What lacks its beginning begins with the recording, and what lacks its end ends
// with the last event.
void TimelineOfAll::writeAsyncsOfOne(std::span<const TimelineParts::AsyncEvent> events) {
  const std::string_view name = events.front().name;
  const uint64_t id = events.front().id;
  size_t numOpen = 0;
  for (const TimelineParts::AsyncEvent& event : events) {
    if (event.isEnd && numOpen == 0) {
      writer_.asyncBegin(id, begin_, name);
    }
    if (!event.isEnd) {
      ++numOpen;
    } else if (numOpen != 0) {
      --numOpen;
    }
  }
  for (const TimelineParts::AsyncEvent& event : events) {
    event.isEnd ? writer_.asyncEnd(id, event.time, name) : writer_.asyncBegin(id, event.time, name);
  }
  for (; numOpen != 0; --numOpen) {
    writer_.asyncEnd(id, parts_.end, name);
  }
}

void TimelineOfAll::noteRefused() {
  if (recording_.numRefused != 0) {
    const ShortText note([this](Text& out) {
      out << "The events of ";
      writeCount(out, recording_.numRefused, "thread");
      out << " are missing: there was no memory to record them.";
    });
    parts_.notes.push_back(parts_.names.keep(note.view()));
  }
}

}  // namespace

void writeTimeline(const Recording& recording, Names& names, const Memory& memory, TimelineWriter& writer) {
  TimelineOfAll(recording, names, memory, writer).write();
}

}  // namespace weft::inline v0_1::detail::inspect
