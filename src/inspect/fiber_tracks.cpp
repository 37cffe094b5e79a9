// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/fiber_tracks.h"

#include <algorithm>
#include <utility>

#include "inspect/short_text.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// In nanoseconds. A fiber that goes on sooner has no slice `ready`: nobody would see it, and files would be
// larger, since most fibers go on at once.
constexpr uint64_t kShortestReady = 1'000;

std::string_view categoryOf(SliceKind kind) {
  switch (kind) {
    case SliceKind::Task:
    case SliceKind::InPlace:
    case SliceKind::Step:
      return kTaskCategory;
    case SliceKind::Wait:
      return kWaitCategory;
    case SliceKind::Ready:
      return kReadyCategory;
    case SliceKind::Scope:
      return kScopeCategory;
  }
  return {};
}

}  // namespace

FiberTracks::FiberTracks(TimelineParts& parts, const TrackPen& pen)
    : parts_(parts),
      pen_(pen),
      slices_(parts.recording.memory()),
      earlier_(parts.recording.memory()),
      fibers_(kFirstFiber, parts.recording.memory()),
      byNumber_(parts.recording.memory()) {}

std::string_view FiberTracks::earlierName(SliceKind kind) {
  switch (kind) {
    case SliceKind::Task:
      return "task that began earlier";
    case SliceKind::InPlace:
      return "task in place that began earlier";
    case SliceKind::Scope:
      return "scope that began earlier";
    case SliceKind::Wait:
      return "waits since earlier";
    case SliceKind::Ready:
      return "ready since earlier";
    case SliceKind::Step:
      return "step that began earlier";
  }
  return {};
}

void FiberTracks::restart() {
  for (Fiber& fiber : fibers_) {
    fiber.part = 0;
    fiber.task = {};
    fiber.changedAt = 0;
    fiber.dueAt = kNoTime;
  }
}

uint32_t FiberTracks::indexOf(uint64_t number) {
  if (const auto known = byNumber_.find(number); known != byNumber_.end()) {
    return known->second;
  }
  const auto index = static_cast<uint32_t>(fibers_.size());
  fibers_.emplace_back().number = number;
  byNumber_.emplace(number, index);
  return index;
}

void FiberTracks::addTracks(const TimelineTrack& ofThread, const ThreadLabel& label) {
  threadTrack_ = ofThread;
  std::pmr::vector<std::pair<uint64_t, uint32_t>> shown(fibers_.get_allocator());
  for (uint32_t i = kUnknown; i < fibers_.size(); ++i) {
    const Fiber& fiber = fibers_[i];
    if (fiber.isShown || fiber.firstTask == Fiber::Task::HadOne || !fiber.earlier.isEmpty()) {
      shown.emplace_back(i == kUnknown ? 0 : fiber.number + 1, i);
    }
  }
  std::ranges::sort(shown);
  for (const auto& [order, i] : shown) {
    addTrack(fibers_[i], label);
  }
}

void FiberTracks::addTrack(Fiber& fiber, const ThreadLabel& label) {
  const ShortText name([&](Text& out) {
    if (!fiber.name.empty()) {
      out << fiber.name << " (";
    }
    label.write(out);
    out << ", fiber ";
    &fiber == &fibers_[kUnknown] ? void(out << '?') : void(out.decimal(fiber.number));
    if (!fiber.name.empty()) {
      out << ')';
    }
  });
  fiber.track = ++parts_.numTracks;
  TimelineTrack track = trackOf(fiber);
  track.name = name.view();
  parts_.writer.addTrack(track);
}

TimelineTrack FiberTracks::trackOf(const Fiber& fiber) const {
  if (&fiber == &fibers_[kOutside]) {
    return threadTrack_;
  }
  TimelineTrack track;
  track.id = fiber.track;
  track.kind = TrackKind::Fiber;
  track.order = static_cast<int32_t>(fiber.track);
  return track;
}

void FiberTracks::openEarlier(bool wasIdle) {
  fibers_[kUnknown].wasSuspended = wasIdle;
  for (Fiber& fiber : fibers_) {
    openEarlier(fiber);
    fiber.mayEndEarlier = false;  // all that does is open now
  }
}

void FiberTracks::openEarlier(Fiber& fiber) {
  if (fiber.firstTask == Fiber::Task::HadOne && !fiber.earlier.has(SliceKind::Task)) {
    pushEarlier(fiber, SliceKind::Task);
  }
  while (!fiber.earlier.isEmpty()) {
    pushEarlier(fiber, earlier_.pop(fiber.earlier));
  }
  if (fiber.wasSuspended && !fiber.open.isEmpty()) {
    push(fiber, SliceKind::Wait, earlierName(SliceKind::Wait));
  }
}

void FiberTracks::pushEarlier(Fiber& fiber, SliceKind kind) {
  const bool isKnown = kind == SliceKind::Task && !fiber.earlierTask.empty();
  const std::string_view name = isKnown ? fiber.earlierTask : earlierName(kind);
  if (kind == SliceKind::Task) {
    fiber.task = name;
  }
  push(fiber, kind, name);
}

void FiberTracks::closeAll() {
  for (Fiber& fiber : fibers_) {
    popAll(fiber);
  }
}

void FiberTracks::mark(Fiber& fiber, std::string_view name) {
  fiber.isShown = true;
  fiber.changedAt = pen_.now;
  pen_.instant(trackOf(fiber), name);
}

void FiberTracks::push(Fiber& fiber, SliceKind kind, std::string_view name,
                       std::span<const TimelineArgument> arguments) {
  slices_.push(fiber.open, kind);
  fiber.isShown = true;
  fiber.changedAt = pen_.now;
  fiber.dueAt = kNoTime;
  pen_.beginSlice(trackOf(fiber), name, categoryOf(kind), arguments);
}

void FiberTracks::pop(Fiber& fiber) {
  slices_.pop(fiber.open);
  fiber.changedAt = pen_.now;
  pen_.endSlice(trackOf(fiber));
}

void FiberTracks::popThrough(Fiber& fiber, SliceKind kind) {
  if (!fiber.open.has(kind)) {
    if (fiber.mayEndEarlier) {
      popAll(fiber);
      earlier_.push(fiber.earlier, kind);
    }
    return;
  }
  while (slices_.top(fiber.open) != kind) {
    pop(fiber);
  }
  pop(fiber);
}

void FiberTracks::popAll(Fiber& fiber) {
  while (!fiber.open.isEmpty()) {
    pop(fiber);
  }
}

void FiberTracks::noteTimer(uint64_t number, uint64_t due) {
  const auto known = byNumber_.find(number);
  if (known == byNumber_.end()) {
    return;
  }
  Fiber& fiber = fibers_[known->second];
  if (isInnermost(fiber, SliceKind::Wait)) {
    fiber.dueAt = std::max(due, fiber.changedAt);
  }
}

// A wake may be that of an earlier wait. It may also seem to come after the fiber went on, since the clocks
// of two processors differ a little.
void FiberTracks::becomeReady(Fiber& fiber, uint64_t wokenAt) {
  if (!isInnermost(fiber, SliceKind::Wait)) {
    return;
  }
  uint64_t since = kNoTime;
  for (const uint64_t time : {wokenAt, fiber.dueAt}) {
    since = time >= fiber.changedAt ? std::min(since, time) : since;
  }
  if (since > pen_.now || pen_.now - since < kShortestReady) {
    return;
  }
  TrackPen earlier = pen_;
  // Viewers of Chrome's format add up microseconds as floating-point numbers. The end of the wait, rounded,
  // must not be behind the begin of `ready`, or that is not drawn.
  earlier.now = std::max(fiber.changedAt, since - std::min<uint64_t>(since, 1));
  slices_.pop(fiber.open);
  earlier.endSlice(trackOf(fiber));
  earlier.now = since;
  slices_.push(fiber.open, SliceKind::Ready);
  fiber.changedAt = since;
  earlier.beginSlice(trackOf(fiber), "ready", kReadyCategory);
}

void FiberTracks::becomeReady(uint32_t thread) {
  for (size_t i = kFirstFiber; i < fibers_.size(); ++i) {
    becomeReady(fibers_[i], parts_.arrows->lastWake(thread, fibers_[i].number));
  }
}

}  // namespace weft::inline v0_1::detail::inspect
