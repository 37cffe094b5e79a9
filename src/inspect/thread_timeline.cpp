// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/thread_timeline.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <string_view>

#include "inspect/phrases.h"
#include "inspect/short_text.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// Returns: the time that had been set for a TimerFired.
uint64_t dueTime(const RecordedEvent& event) {
  constexpr uint64_t kNanosecondsInMicrosecond = 1'000;
  const uint64_t late = upperIn(event.operand) * kNanosecondsInMicrosecond;
  return event.time - std::min(event.time, late);
}

}  // namespace

ThreadTimeline::ThreadTimeline(TimelineParts& parts, uint32_t thread)
    : parts_(parts),
      index_(thread),
      thread_(parts.recording.threads[thread]),
      pen_(parts.writer),
      label_((*parts.labels)[thread]),
      track_(pen_),
      fibers_(parts, pen_),
      current_(parts, thread_, fibers_) {}

void ThreadTimeline::write() {
  const Recording& recording = parts_.recording;
  look();
  if (begin_ == kNoTime) {
    noteOverwritten();
    return;  // it has recorded nothing in that time
  }
  if (thread_.isWhole() && recording.startedAt != 0) {
    begin_ = std::min(begin_, RecordedClock(recording).nanoseconds(recording.startedAt));
  }
  end_ = pen_.now;
  if (!thread_.hasEnded && recording.stoppedAt != 0) {
    end_ = std::max(end_, RecordedClock(recording).nanoseconds(recording.stoppedAt));
  }
  parts_.end = std::max(parts_.end, end_);
  addTracks();
  noteOverwritten();
  pen_.now = begin_;
  look();
}

void ThreadTimeline::look() {
  try {
    current_.restart();
    if (track_.isWritten()) {
      openEarlier();
    }
    RecordedEvents events(parts_.recording, thread_);
    RecordedEvent event;
    while (events.next(event)) {
      pen_.now = event.time;
      begin_ = std::min(begin_, event.time);
      take(event);
    }
    pen_.now = std::max(pen_.now, end_);
    if (track_.isWritten()) {
      fibers_.becomeReady(thread_.number);
    }
  } catch (...) {
    closeAll();
    throw;
  }
  closeAll();
}

void ThreadTimeline::openEarlier() {
  fibers_.openEarlier(track_.wasIdle());
  if (track_.wasIdle()) {
    track_.openIdle();
  } else {
    openRun();
  }
  track_.openInnerEarlier();
}

void ThreadTimeline::closeAll() {
  pen_.now = std::max(pen_.now, end_);
  track_.closeIdle();
  track_.closeRun();
  fibers_.closeAll();
}

void ThreadTimeline::addTracks() {
  TimelineTrack track;
  track.id = ++parts_.numTracks;
  track.kind = TrackKind::Thread;
  track.order = static_cast<int32_t>(track.id);
  track.threadId = static_cast<uint32_t>(thread_.threadId);
  track.name = parts_.labels->track(index_);
  parts_.writer.addTrack(track);
  track_.setTrack(track);
  fibers_.addTracks(track, label_);
}

void ThreadTimeline::noteOverwritten() {
  if (thread_.numOverwritten == 0) {
    return;
  }
  const Recording& recording = parts_.recording;
  const ShortText note([&](Text& out) {
    label_.write(out);
    out << ": ";
    writeCount(out, thread_.numOverwritten, "older event");
    out << (thread_.numOverwritten == 1 ? " was overwritten" : " were overwritten");
    if (begin_ == kNoTime) {
      out << ", and none is left of this recording";
    } else if (recording.startedAt != 0) {
      const uint64_t start = RecordedClock(recording).nanoseconds(recording.startedAt);
      out << "; the first one left is of ";
      writeDuration(out, std::chrono::nanoseconds(begin_ - std::min(begin_, start)));
      out << " after the start";
    }
  });
  parts_.notes.push_back(parts_.names.keep(note.view()));
}

void ThreadTimeline::take(const RecordedEvent& event) {
  switch (event.kind) {
    case TraceKind::ThreadBound:
    case TraceKind::ThreadUnbound:
      return takeBinding(event);
    case TraceKind::FiberLeft:
    case TraceKind::FiberResumed:
      return takeSwitch(event);
    case TraceKind::IdleBegan:
    case TraceKind::IdleEnded:
      return takeIdle(event);
    case TraceKind::Parked:
    case TraceKind::Unparked:
    case TraceKind::SearchBegan:
    case TraceKind::SearchEnded:
      return track_.takeInner(event.kind);
    case TraceKind::TaskNamed:
      return current_.setTaskName(parts_.names.nameOf(event));
    case TraceKind::TaskBegan:
    case TraceKind::TaskEnded:
    case TraceKind::TaskFollowed:
      return takeTask(event);
    case TraceKind::Stole:
    case TraceKind::TimerFired:
    case TraceKind::Woke:
      return takeInstant(event);
    case TraceKind::Mark:
    case TraceKind::CounterNamed:
    case TraceKind::AsyncBegan:
    case TraceKind::AsyncEnded:
    case TraceKind::TrackNamed:
      return takeProgram(event);
    default:
      return takeScope(event);
  }
}

void ThreadTimeline::takeBinding(const RecordedEvent& event) {
  stopWaiting();
  track_.closeRun();
  track_.noteIdle(false);
  if (event.kind == TraceKind::ThreadUnbound) {
    return current_.takeUnbound();
  }
  current_.takeBound(event);
  goOn();
}

void ThreadTimeline::takeSwitch(const RecordedEvent& event) {
  track_.closeIdle();
  track_.noteIdle(false);
  track_.closeRun();
  if (event.kind == TraceKind::FiberLeft) {
    return current_.takeLeft(event);
  }
  const WakeArrows::Arrow arrow =
      track_.isWritten() ? parts_.arrows->to(index_, event.index) : WakeArrows::Arrow{};
  current_.takeResumed(event, arrow.id != 0 ? arrow.wokenAt : kNoTime);
  goOn(arrow);
}

void ThreadTimeline::takeIdle(const RecordedEvent& event) {
  if (event.kind == TraceKind::IdleBegan) {
    stopWaiting();
    track_.noteIdle(false);
    track_.closeRun();
    current_.takeIdle(event);
    track_.openIdle();
    return;
  }
  track_.closeIdle();
  track_.noteIdle(true);
}

void ThreadTimeline::takeTask(const RecordedEvent& event) {
  stopWaiting();
  track_.noteIdle(false);
  track_.closeRun();
  current_.takeTask(event);
  goOn();
}

void ThreadTimeline::takeScope(const RecordedEvent& event) {
  goOn();
  track_.noteIdle(false);
  current_.takeScope(event);
}

void ThreadTimeline::takeInstant(const RecordedEvent& event) {
  if (!track_.isWritten()) {
    return;
  }
  switch (event.kind) {
    case TraceKind::Stole: {
      const TimelineArgument task("task", parts_.names.task(event.operand));
      return pen_.instant(track_.track(), "stole a task", {&task, 1});
    }
    case TraceKind::TimerFired: {
      fibers_.noteTimer(fiberIn(event.operand), dueTime(event));
      const TimelineArgument arguments[] = {{"fiber", fiberIn(event.operand)},
                                            {"us late", upperIn(event.operand)}};
      return pen_.instant(track_.track(), "timer", arguments);
    }
    default: {
      const TimelineArgument arguments[] = {{"thread", parts_.labels->trackOf(upperIn(event.operand))},
                                            {"fiber", fiberIn(event.operand)}};
      const uint64_t arrow = parts_.arrows->next();
      return arrow != 0 ? pen_.instant(track_.track(), "wakes a fiber", arguments, arrow) : void();
    }
  }
}

void ThreadTimeline::takeProgram(const RecordedEvent& event) {
  if (event.kind == TraceKind::Mark) {
    return current_.takeMark(parts_.names.nameOf(event));
  }
  if (event.kind == TraceKind::TrackNamed) {
    if (current_.isOnFiber() && !event.text.empty()) {
      current_.setName(parts_.names.keep(event.text));
    }
    return;
  }
  if (!track_.isWritten()) {
    return;
  }
  if (event.kind != TraceKind::CounterNamed) {
    parts_.asyncs.push_back({parts_.names.keep(event.text), event.operand, pen_.now, parts_.asyncs.size(),
                             event.kind == TraceKind::AsyncEnded});
  } else if (event.hasSecond) {
    parts_.counters.push_back(
        {parts_.names.nameOf(event), pen_.now, parts_.counters.size(), std::bit_cast<double>(event.second)});
  }
}

// The current fiber does not wait any more, and the thread looks for no other.
void ThreadTimeline::stopWaiting() {
  track_.closeIdle();
  current_.stopWaiting();
}

void ThreadTimeline::goOn(const WakeArrows::Arrow& arrow) {
  stopWaiting();
  openRun(arrow);
}

void ThreadTimeline::openRun(const WakeArrows::Arrow& arrow) {
  const bool isWoken = arrow.id != 0;
  if (track_.isRunning() && isWoken) {
    track_.closeRun();  // for a slice to which the arrow leads
  }
  if (track_.isRunning()) {
    return;
  }
  if (const auto run = current_.beginRun(isWoken)) {
    track_.openRun(*run, arrow);
  }
}

}  // namespace weft::inline v0_1::detail::inspect
