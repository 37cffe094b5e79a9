// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/current_fiber.h"

#include "inspect/short_text.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// Returns: whether the thread's first event of its scheduler says that it has none before.
bool beginsOutside(const Recording& recording, const Recording::Thread& thread) {
  RecordedEvents events(recording, thread);
  RecordedEvent event;
  while (events.next(event)) {
    switch (event.kind) {
      case TraceKind::ThreadBound:
        return true;
      case TraceKind::ThreadUnbound:
      case TraceKind::TaskBegan:
      case TraceKind::TaskEnded:
      case TraceKind::TaskFollowed:
      case TraceKind::InPlaceBegan:
      case TraceKind::InPlaceEnded:
      case TraceKind::Stole:
      case TraceKind::FiberLeft:
      case TraceKind::FiberResumed:
        return false;
      default:
        break;
    }
  }
  return true;
}

}  // namespace

CurrentFiber::CurrentFiber(TimelineParts& parts, const Recording::Thread& thread, FiberTracks& tracks)
    : names_(parts.names), tracks_(tracks), isOutside_(beginsOutside(parts.recording, thread)) {}

void CurrentFiber::restart() {
  tracks_.restart();
  index_ = isOutside_ ? kOutside : kUnknown;
  isBound_ = false;
}

void CurrentFiber::moveTo(uint32_t index) {
  if (index_ == kUnknown) {
    tracks_.popAll(fiber());  // should it go on, it does so under its number
  }
  tracks_[kUnknown].hadNothing();  // from here on
  index_ = index;
}

void CurrentFiber::takeBound(const RecordedEvent& event) {
  isBound_ = event.operand == 0;
  moveTo(tracks_.indexOf(fiberIn(event.second)));
  if (!event.hasSecond) {
    fiber().hadNothing();
  }
  arrive(event);
}

void CurrentFiber::takeUnbound() {
  if (index_ != kOutside) {
    tracks_.popAll(fiber());
  }
  isBound_ = false;
  moveTo(kOutside);
}

void CurrentFiber::takeLeft(const RecordedEvent& event) {
  if (!isWaiting()) {  // it waits already if the thread was idle on it
    wait(event);
  }
  moveTo(index_ == kOutside ? kOutside : kUnknown);
}

void CurrentFiber::takeResumed(const RecordedEvent& event, uint64_t wokenAt) {
  moveTo(tracks_.indexOf(fiberIn(event.operand)));
  fiber().wasSuspended = fiber().wasSuspended || !fiber().isSeen;
  tracks_.becomeReady(fiber(), wokenAt);
  arrive(event);
}

// The thread is on the current fiber now.
void CurrentFiber::arrive(const RecordedEvent& event) {
  Fiber& fiber = this->fiber();
  fiber.isSeen = true;
  if (event.task == 0) {
    return;
  }
  if (fiber.firstTask == Fiber::Task::Unknown) {
    fiber.firstTask = Fiber::Task::HadOne;
  }
  if (fiber.firstTask == Fiber::Task::HadOne && fiber.mayEndEarlier) {
    fiber.earlierTask = names_.task(event.task);  // no task has ended here since
  }
}

bool CurrentFiber::isWaiting() const {
  return tracks_.isInnermost(tracks_[index_], SliceKind::Wait) ||
         tracks_.isInnermost(tracks_[index_], SliceKind::Ready);
}

void CurrentFiber::stopWaiting() {
  if (isWaiting()) {
    tracks_.pop(fiber());
  }
}

// The current fiber is left, or the thread idles on it.
void CurrentFiber::wait(const RecordedEvent& event) {
  if (event.operand != 0) {
    showTask();
    const std::string_view what = names_.text(event.operand);
    const ShortText name([&](Text& out) { out << "waits: " << what; });
    const ShortText object([&](Text& out) { out.hex(event.second); });
    const TimelineArgument argument("object", object.view());
    tracks_.push(fiber(), SliceKind::Wait, name.view(), {&argument, event.hasSecond ? 1U : 0U});
  } else if (fiber().open.has(SliceKind::Task)) {
    tracks_.push(fiber(), SliceKind::Ready, "lets others run");
  }
}

// An event of the current fiber is one of a task that has not ended.
void CurrentFiber::showTask() {
  Fiber& fiber = this->fiber();
  if (fiber.firstTask == Fiber::Task::Unknown && index_ != kOutside && !isOwnCode()) {
    fiber.firstTask = Fiber::Task::HadOne;
  }
}

void CurrentFiber::takeTask(const RecordedEvent& event) {
  Fiber& fiber = this->fiber();
  const bool isEnd = event.kind != TraceKind::TaskBegan;
  const bool isBegin = event.kind != TraceKind::TaskEnded;
  if (fiber.firstTask == Fiber::Task::Unknown) {
    fiber.firstTask = isEnd ? Fiber::Task::HadOne : Fiber::Task::HadNone;
  }
  if (isEnd || fiber.open.has(SliceKind::Task)) {
    tracks_.popThrough(fiber, SliceKind::Task);
  }
  if (index_ != kOutside) {
    fiber.mayEndEarlier = false;
  }
  if (isBegin) {
    fiber.part = 0;
    fiber.task = names_.task(event.operand);
    const TimelineArgument code("code", fiber.task);
    if (event.hasSecond) {
      fiber.task = names_.named(event.second, event.text);
    }
    tracks_.push(fiber, SliceKind::Task, fiber.task, {&code, event.hasSecond ? 1U : 0U});
  }
}

void CurrentFiber::takeScope(const RecordedEvent& event) {
  switch (event.kind) {
    case TraceKind::InPlaceBegan:
      showTask();
      return tracks_.push(fiber(), SliceKind::InPlace, names_.task(event.operand));
    case TraceKind::InPlaceEnded:
      return tracks_.popThrough(fiber(), SliceKind::InPlace);
    case TraceKind::ScopeBegan:
      return tracks_.push(fiber(), SliceKind::Scope, names_.nameOf(event));
    case TraceKind::ScopeEnded:
      return tracks_.popThrough(fiber(), SliceKind::Scope);
    case TraceKind::StepBegan:
      return tracks_.push(fiber(), SliceKind::Step, names_.task(event.operand));
    case TraceKind::StepEnded:
      return tracks_.popThrough(fiber(), SliceKind::Step);
    default:
      return;
  }
}

void CurrentFiber::takeMark(std::string_view name) {
  tracks_.mark(isOnFiber() ? fiber() : tracks_[kOutside], name);
}

std::optional<FiberRun> CurrentFiber::beginRun(bool isWoken) {
  Fiber& fiber = this->fiber();
  const bool isTask = fiber.open.has(SliceKind::Task);
  if (index_ == kOutside || !(isTask || isWoken || (isOwnCode() && isBound_))) {
    return {};
  }
  FiberRun run;
  run.name = isTask ? fiber.task : isOwnCode() ? "own code" : FiberTracks::earlierName(SliceKind::Task);
  run.fiber = fiber.number;
  run.part = ++fiber.part;
  run.isFiberKnown = isOnFiber();
  return run;
}

}  // namespace weft::inline v0_1::detail::inspect
