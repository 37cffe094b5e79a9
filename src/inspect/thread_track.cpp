// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/thread_track.h"

#include <span>

namespace weft::inline v0_1::detail::inspect {

void ThreadTrack::noteIdle(bool wasIdle) {
  if (!isIdleSeen_) {
    isIdleSeen_ = true;
    wasIdle_ = wasIdle;
  }
}

void ThreadTrack::openRun(const FiberRun& run, const WakeArrows::Arrow& arrow) {
  const TimelineArgument all[] = {
      {"fiber", run.fiber}, {"part", run.part}, {"ns from wake to run", pen_.now - arrow.wokenAt}};
  const size_t numArguments = !run.isFiberKnown ? 0 : arrow.id != 0 ? 3 : 2;
  pen_.beginSlice(track_, run.name, kTaskCategory, std::span(all).first(numArguments), arrow.id);
  isRunning_ = true;
}

void ThreadTrack::closeRun() {
  closeInner();
  if (isRunning_) {
    pen_.endSlice(track_);
    isRunning_ = false;
  }
}

void ThreadTrack::openIdle() {
  pen_.beginSlice(track_, "idle", kIdleCategory);
  isIdle_ = true;
}

void ThreadTrack::closeIdle() {
  closeInner();
  if (isIdle_) {
    pen_.endSlice(track_);
    isIdle_ = false;
  }
}

void ThreadTrack::takeInner(TraceKind kind) {
  const bool isEnd = kind == TraceKind::Unparked || kind == TraceKind::SearchEnded;
  const bool isSleep = kind == TraceKind::Parked || kind == TraceKind::Unparked;
  const Inner inner = isSleep ? Inner::Asleep : Inner::Searching;
  if (!isInnerSeen_) {
    isInnerSeen_ = true;
    firstInner_ = isEnd && !isIdleSeen_ ? inner : Inner::None;
  }
  closeInner();
  if (!isEnd) {
    openInner(inner);
  }
}

void ThreadTrack::openInner(Inner inner) {
  if (inner != Inner::None) {
    pen_.beginSlice(track_, inner == Inner::Asleep ? "asleep" : "looks for work", kIdleCategory);
    isInner_ = true;
  }
}

void ThreadTrack::closeInner() {
  if (isInner_) {
    pen_.endSlice(track_);
    isInner_ = false;
  }
}

}  // namespace weft::inline v0_1::detail::inspect
