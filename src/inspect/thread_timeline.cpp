// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/thread_timeline.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "inspect/phrases.h"
#include "inspect/short_text.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr std::string_view kTask = "task";
constexpr std::string_view kWait = "wait";
constexpr std::string_view kIdle = "idle";
constexpr std::string_view kScope = "scope";
constexpr uint64_t kLowerHalf = 0xffffffff;

std::string_view earlierName(SliceKind kind) {
  switch (kind) {
    case SliceKind::Task:
      return "task that began earlier";
    case SliceKind::InPlace:
      return "task in place that began earlier";
    case SliceKind::Scope:
      return "scope that began earlier";
    case SliceKind::Wait:
      return "waits since earlier";
    case SliceKind::Io:
      return "I/O that began earlier";
    case SliceKind::Step:
      return "step that began earlier";
  }
  return {};
}

// Returns: the number plus one of the worker whose thread the library has named so; 0 of other names.
uint64_t workerInName(std::string_view name) {
  constexpr std::string_view kPrefix = "weft:";
  uint64_t number = 0;
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) {
    return 0;
  }
  for (const char c : name.substr(kPrefix.size())) {
    if (c < '0' || c > '9') {
      return 0;
    }
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number + 1;
}

}  // namespace

ThreadTimeline::ThreadTimeline(TimelineParts& parts, uint32_t thread)
    : parts_(parts),
      index_(thread),
      thread_(parts.recording.threads[thread]),
      slices_(parts.recording.memory()),
      earlier_(parts.recording.memory()),
      fibers_(parts.recording.memory()),
      byNumber_(parts.recording.memory()) {}

void ThreadTimeline::write() {
  begin_ = kNoTime;
  look();
  if (const uint64_t worker = workerInName(thread_.name); worker != 0 && !worker_.has_value()) {
    worker_ = worker;  // it has become one before the recording
  }
  if (begin_ == kNoTime) {
    noteOverwritten();
    return;  // it has recorded nothing in that time
  }
  if (thread_.isWhole() && parts_.recording.startedAt != 0) {
    begin_ = std::min(begin_, RecordedClock(parts_.recording).nanoseconds(parts_.recording.startedAt));
  }
  end_ = now_;
  if (!thread_.hasEnded && parts_.recording.stoppedAt != 0) {
    end_ = std::max(end_, RecordedClock(parts_.recording).nanoseconds(parts_.recording.stoppedAt));
  }
  parts_.end = std::max(parts_.end, end_);
  addTracks();
  noteOverwritten();
  isWriting_ = true;
  try {
    look();
  } catch (...) {
    closeAll();
    throw;
  }
  closeAll();
}

void ThreadTimeline::look() {
  beginLook();
  RecordedEvents events(parts_.recording, thread_);
  RecordedEvent event;
  while (events.next(event)) {
    now_ = event.time;
    begin_ = std::min(begin_, now_);
    take(event);
  }
}

void ThreadTimeline::beginLook() {
  if (isWriting_) {
    now_ = begin_;
    isBound_ = isRunning_ = isIdle_ = false;
    isInner_ = false;
    slices_.clear();
    for (Fiber& fiber : fibers_) {
      fiber.open = {};
      fiber.part = 0;
      fiber.task = {};
    }
    current_ = isOutside_ ? kOutside : kUnknown;
    openEarlier();
  } else {
    fibers_.resize(kFirstFiber);
    isOutside_ = beginsOutside();
    current_ = isOutside_ ? kOutside : kUnknown;
  }
}

// Returns: whether the thread's first event of its scheduler says that it has none before.
bool ThreadTimeline::beginsOutside() const {
  RecordedEvents events(parts_.recording, thread_);
  RecordedEvent event;
  while (events.next(event)) {
    switch (event.kind) {
      case TraceKind::ThreadBound:
        return true;
      case TraceKind::ThreadUnbound:
      case TraceKind::TaskBegan:
      case TraceKind::TaskEnded:
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

// Returns: the index of the fiber with that number.
uint32_t ThreadTimeline::fiber(uint64_t number) {
  if (current_ >= kFirstFiber && current().number == number) {
    return current_;
  }
  if (const auto known = byNumber_.find(number); known != byNumber_.end()) {
    return known->second;
  }
  const auto index = static_cast<uint32_t>(fibers_.size());
  fibers_.emplace_back().number = number;
  byNumber_.emplace(number, index);
  return index;
}

TimelineTrack ThreadTimeline::trackOf(const Fiber& fiber) const {
  if (&fiber == &fibers_[kOutside]) {
    return track_;
  }
  TimelineTrack track;
  track.id = fiber.track;
  track.kind = TrackKind::Fiber;
  track.order = static_cast<int32_t>(fiber.track);
  return track;
}

void ThreadTimeline::addTracks() {
  const ShortText threadName([this](Text& out) { writeThreadName(out); });
  track_.id = ++parts_.numTracks;
  track_.kind = TrackKind::Thread;
  track_.order = static_cast<int32_t>(track_.id);
  track_.threadId = static_cast<uint32_t>(thread_.threadId);
  track_.name = parts_.names.keep(threadName.view());
  parts_.writer.addTrack(track_);
  std::pmr::vector<std::pair<uint64_t, uint32_t>> shown(fibers_.get_allocator());
  for (uint32_t i = kUnknown; i < fibers_.size(); ++i) {
    const Fiber& fiber = fibers_[i];
    if (fiber.isShown || fiber.firstTask == Fiber::Task::HadOne || !fiber.earlier.isEmpty()) {
      shown.emplace_back(i == kUnknown ? 0 : fiber.number + 1, i);
    }
  }
  std::ranges::sort(shown);
  for (const auto& [order, i] : shown) {
    Fiber& fiber = fibers_[i];
    const ShortText name([&, index = i](Text& out) {
      if (!fiber.name.empty()) {
        out << fiber.name << " (";
      }
      writeLabel(out);
      out << ", fiber ";
      index == kUnknown ? void(out << '?') : void(out.decimal(fiber.number));
      if (!fiber.name.empty()) {
        out << ')';
      }
    });
    fiber.track = ++parts_.numTracks;
    TimelineTrack track = trackOf(fiber);
    track.name = name.view();
    parts_.writer.addTrack(track);
  }
}

// "worker 3", "bound thread 4711", "thread 4711"
void ThreadTimeline::writeLabel(Text& out) const {
  if (worker_.has_value() && *worker_ != 0) {
    (out << "worker ").decimal(*worker_ - 1);
  } else {
    (out << (worker_.has_value() ? "bound thread " : "thread "))
        .decimal(static_cast<uint32_t>(thread_.threadId));
  }
}

// The label, in parentheses after a name that the program has given.
void ThreadTimeline::writeThreadName(Text& out) const {
  const bool isNamed = workerInName(thread_.name) == 0;
  const std::string_view name = !name_.empty() || !isNamed ? name_ : std::string_view(thread_.name);
  if (!name.empty()) {
    out << name << " (";
  }
  writeLabel(out);
  out << (thread_.hasEnded ? ", has ended" : "") << (name.empty() ? "" : ")");
}

void ThreadTimeline::noteOverwritten() {
  if (thread_.numOverwritten == 0) {
    return;
  }
  const Recording& recording = parts_.recording;
  const ShortText note([&](Text& out) {
    writeLabel(out);
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

void ThreadTimeline::openEarlier() {
  for (Fiber& fiber : fibers_) {
    openEarlier(fiber);
  }
  if (wasIdle_) {
    openIdle();
  } else {
    openRun();
  }
  openInner(firstInner_);
}

void ThreadTimeline::openEarlier(Fiber& fiber) {
  if (fiber.firstTask == Fiber::Task::HadOne && !fiber.earlier.has(SliceKind::Task)) {
    pushEarlier(fiber, SliceKind::Task);
  }
  while (!fiber.earlier.isEmpty()) {
    pushEarlier(fiber, earlier_.pop(fiber.earlier));
  }
  if (fiber.wasSuspended && !fiber.open.isEmpty()) {
    push(fiber, SliceKind::Wait, earlierName(SliceKind::Wait), kWait);
  }
}

void ThreadTimeline::pushEarlier(Fiber& fiber, SliceKind kind) {
  const bool isKnown = kind == SliceKind::Task && !fiber.earlierTask.empty();
  const std::string_view name = isKnown ? fiber.earlierTask : earlierName(kind);
  if (kind == SliceKind::Task) {
    fiber.task = name;
  }
  push(fiber, kind, name, kTask);
}

void ThreadTimeline::closeAll() {
  now_ = std::max(now_, end_);
  closeIdle();
  closeRun();
  for (Fiber& fiber : fibers_) {
    popAll(fiber);
  }
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
      return takeInner(event.kind);
    case TraceKind::TaskBegan:
    case TraceKind::TaskNamed:
    case TraceKind::TaskEnded:
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
  closeRun();
  noteIdle(false);
  if (event.kind == TraceKind::ThreadUnbound) {
    if (current_ != kOutside) {
      popAll(current());
    }
    isBound_ = false;
    moveTo(kOutside);
    return;
  }
  worker_ = worker_.has_value() ? worker_ : event.operand;
  isBound_ = event.operand == 0;
  moveTo(fiber(event.second & kLowerHalf));
  if (!event.hasSecond) {
    hadNothing(current());
  }
  arrive(event);
  goOn();
}

void ThreadTimeline::takeSwitch(const RecordedEvent& event) {
  if (event.kind == TraceKind::FiberLeft) {
    closeIdle();
    noteIdle(false);
    closeRun();
    if (!isWaiting()) {  // it waits already if the thread was idle on it
      wait(event);
    }
    moveTo(current_ == kOutside ? kOutside : kUnknown);
    return;
  }
  closeIdle();
  noteIdle(false);
  closeRun();
  moveTo(fiber(event.operand & kLowerHalf));
  current().wasSuspended = current().wasSuspended || !current().isSeen;
  arrive(event);
  goOn(arrowTo(event));
}

void ThreadTimeline::takeIdle(const RecordedEvent& event) {
  if (event.kind == TraceKind::IdleBegan) {
    stopWaiting();
    noteIdle(false);
    closeRun();
    wait(event);
    openIdle();
    return;
  }
  closeIdle();
  noteIdle(true);
}

void ThreadTimeline::takeInner(TraceKind kind) {
  const bool isEnd = kind == TraceKind::Unparked || kind == TraceKind::SearchEnded;
  const bool isSleep = kind == TraceKind::Parked || kind == TraceKind::Unparked;
  const Inner inner = isSleep ? Inner::Asleep : Inner::Searching;
  if (!isWriting_ && !isInnerSeen_) {
    isInnerSeen_ = true;
    firstInner_ = isEnd && !isIdleSeen_ ? inner : Inner::None;
  }
  closeInner();
  if (!isEnd) {
    openInner(inner);
  }
}

void ThreadTimeline::takeTask(const RecordedEvent& event) {
  if (event.kind == TraceKind::TaskNamed) {
    current().task = parts_.names.nameOf(event);
    return;
  }
  stopWaiting();
  noteIdle(false);
  closeRun();
  const bool isBegin = event.kind == TraceKind::TaskBegan;
  if (current().firstTask == Fiber::Task::Unknown) {
    current().firstTask = isBegin ? Fiber::Task::HadNone : Fiber::Task::HadOne;
  }
  if (!isBegin || current().open.has(SliceKind::Task)) {
    popThrough(current(), SliceKind::Task);
  }
  current().mayEndEarlier = current_ == kOutside;
  if (isBegin) {
    current().part = 0;
    current().task = parts_.names.task(event.operand);
    const TimelineArgument code("code", current().task);
    if (event.hasSecond) {
      current().task = parts_.names.named(event.second, event.text);
    }
    push(current(), SliceKind::Task, current().task, kTask, {&code, event.hasSecond ? 1U : 0U});
  }
  goOn();
}

void ThreadTimeline::takeScope(const RecordedEvent& event) {
  goOn();
  noteIdle(false);
  switch (event.kind) {
    case TraceKind::InPlaceBegan:
      showTask();
      return push(current(), SliceKind::InPlace, parts_.names.task(event.operand), kTask);
    case TraceKind::InPlaceEnded:
      return popThrough(current(), SliceKind::InPlace);
    case TraceKind::ScopeBegan:
      return push(current(), SliceKind::Scope, parts_.names.nameOf(event), kScope);
    case TraceKind::ScopeEnded:
      return popThrough(current(), SliceKind::Scope);
    case TraceKind::IoBegan:
      return push(current(), SliceKind::Io, parts_.names.nameOf(event), "io");
    case TraceKind::IoEnded:
      return popThrough(current(), SliceKind::Io);
    case TraceKind::StepBegan:
      return push(current(), SliceKind::Step, parts_.names.task(event.operand), kTask);
    case TraceKind::StepEnded:
      return popThrough(current(), SliceKind::Step);
    default:
      return;
  }
}

void ThreadTimeline::takeInstant(const RecordedEvent& event) {
  if (!isWriting_) {
    return;
  }
  switch (event.kind) {
    case TraceKind::Stole: {
      const TimelineArgument task("task", parts_.names.task(event.operand));
      return instant(track_, "stole a task", {&task, 1});
    }
    case TraceKind::TimerFired: {
      const TimelineArgument arguments[] = {{"fiber", event.operand & kLowerHalf},
                                            {"us late", event.operand >> 32}};
      return instant(track_, "timer", arguments);
    }
    default: {
      const TimelineArgument arguments[] = {{"thread of the ring", event.operand >> 32},
                                            {"fiber", event.operand & kLowerHalf}};
      const uint64_t arrow = parts_.arrows->next();
      return arrow != 0 ? instant(track_, "wakes a fiber", arguments, arrow) : void();
    }
  }
}

void ThreadTimeline::takeProgram(const RecordedEvent& event) {
  const bool isOnFiber = current_ >= kFirstFiber;
  if (event.kind == TraceKind::TrackNamed) {
    if (!isWriting_ && !event.text.empty()) {
      (isOnFiber ? current().name : name_) = parts_.names.keep(event.text);
    }
  } else if (event.kind == TraceKind::Mark) {
    current().isShown = current().isShown || isOnFiber;
    if (isWriting_) {
      instant(isOnFiber ? trackOf(current()) : track_, parts_.names.nameOf(event), {});
    }
  } else if (!isWriting_) {
    return;
  } else if (event.kind != TraceKind::CounterNamed) {
    parts_.asyncs.push_back({parts_.names.keep(event.text), event.operand, now_, parts_.asyncs.size(),
                             event.kind == TraceKind::AsyncEnded});
  } else if (event.hasSecond) {
    parts_.counters.push_back(
        {parts_.names.nameOf(event), now_, parts_.counters.size(), std::bit_cast<double>(event.second)});
  }
}

// The current fiber does not wait any more, and the thread looks for no other.
void ThreadTimeline::stopWaiting() {
  closeIdle();
  if (isWaiting()) {
    pop(current());
  }
}

// The thread goes over to another fiber.
void ThreadTimeline::moveTo(uint32_t fiber) {
  if (current_ == kUnknown) {
    popAll(current());  // should it go on, it does so under its number
  }
  hadNothing(fibers_[kUnknown]);  // from here on
  current_ = fiber;
}

// What ends on the fiber later has not begun before the recording.
void ThreadTimeline::hadNothing(Fiber& fiber) {
  fiber.mayEndEarlier = false;
  if (fiber.firstTask == Fiber::Task::Unknown) {
    fiber.firstTask = Fiber::Task::HadNone;
  }
}

void ThreadTimeline::goOn(const WakeArrows::Arrow& arrow) {
  stopWaiting();
  openRun(arrow);
}

// The current fiber is left, or the thread idles on it.
void ThreadTimeline::wait(const RecordedEvent& event) {
  if (event.operand != 0) {
    showTask();
    const std::string_view what = parts_.names.text(event.operand);
    const ShortText name([&](Text& out) { out << "waits: " << what; });
    const ShortText object([&](Text& out) { out.hex(event.second); });
    const TimelineArgument argument("object", object.view());
    push(current(), SliceKind::Wait, name.view(), kWait, {&argument, event.hasSecond ? 1U : 0U});
  } else if (current().open.has(SliceKind::Task)) {
    push(current(), SliceKind::Wait, "lets others run", kWait);
  }
}

// An event of the current fiber is one of a task that has not ended.
void ThreadTimeline::showTask() {
  Fiber& fiber = current();
  const bool isOwnCode = current_ == kOutside || (current_ >= kFirstFiber && fiber.number == 0);
  if (fiber.firstTask == Fiber::Task::Unknown && !isOwnCode) {
    fiber.firstTask = Fiber::Task::HadOne;
  }
}

// The thread is on the current fiber now.
void ThreadTimeline::arrive(const RecordedEvent& event) {
  Fiber& fiber = current();
  fiber.isSeen = true;
  if (event.task == 0 || isWriting_) {
    return;
  }
  if (fiber.firstTask == Fiber::Task::Unknown) {
    fiber.firstTask = Fiber::Task::HadOne;
  }
  if (fiber.firstTask == Fiber::Task::HadOne && fiber.mayEndEarlier) {
    fiber.earlierTask = parts_.names.task(event.task);  // no task has ended here since
  }
}

WakeArrows::Arrow ThreadTimeline::arrowTo(const RecordedEvent& event) {
  return isWriting_ ? parts_.arrows->to(index_, event.index) : WakeArrows::Arrow{};
}

// The event that decides whether the thread was idle at the beginning.
void ThreadTimeline::noteIdle(bool wasIdle) {
  if (!isWriting_ && !isIdleSeen_) {
    isIdleSeen_ = true;
    wasIdle_ = wasIdle;
    fibers_[kUnknown].wasSuspended = wasIdle;
  }
}

void ThreadTimeline::openRun(const WakeArrows::Arrow& arrow) {
  Fiber& fiber = current();
  if (isRunning_ && arrow.id != 0) {
    closeRun();  // for a slice to which the arrow leads
  }
  if (!isWriting_ || isRunning_ || current_ == kOutside) {
    return;
  }
  const bool isTask = fiber.open.has(SliceKind::Task);
  const bool isOwnCode = current_ >= kFirstFiber && fiber.number == 0;
  if (!isTask && arrow.id == 0 && !(isOwnCode && isBound_)) {
    return;
  }
  TimelineEvent event;
  event.ns = now_;
  event.category = kTask;
  event.name = isTask ? fiber.task : isOwnCode ? "own code" : earlierName(SliceKind::Task);
  event.arrowIn = arrow.id;
  const TimelineArgument arguments[] = {
      {"fiber", fiber.number}, {"part", ++fiber.part}, {"ns from wake to run", now_ - arrow.wokenAt}};
  event.arguments = std::span(arguments).first(arrow.id != 0 ? 3 : 2);
  if (current_ == kUnknown) {
    event.arguments = {};
  }
  parts_.writer.beginSlice(track_, event);
  isRunning_ = true;
}

void ThreadTimeline::closeRun() {
  closeInner();
  if (isRunning_) {
    parts_.writer.endSlice(track_, now_);
    isRunning_ = false;
  }
}

void ThreadTimeline::openIdle() {
  if (isWriting_) {
    TimelineEvent event;
    event.ns = now_;
    event.name = event.category = kIdle;
    parts_.writer.beginSlice(track_, event);
    isIdle_ = true;
  }
}

void ThreadTimeline::closeIdle() {
  closeInner();
  if (isIdle_) {
    parts_.writer.endSlice(track_, now_);
    isIdle_ = false;
  }
}

void ThreadTimeline::openInner(Inner inner) {
  if (isWriting_ && inner != Inner::None) {
    TimelineEvent event;
    event.ns = now_;
    event.name = inner == Inner::Asleep ? "asleep" : "looks for work";
    event.category = kIdle;
    parts_.writer.beginSlice(track_, event);
    isInner_ = true;
  }
}

void ThreadTimeline::closeInner() {
  if (isInner_) {
    parts_.writer.endSlice(track_, now_);
    isInner_ = false;
  }
}

void ThreadTimeline::push(Fiber& fiber, SliceKind kind, std::string_view name, std::string_view category,
                          std::span<const TimelineArgument> arguments) {
  slices_.push(fiber.open, kind);
  fiber.isShown = true;
  if (isWriting_) {
    TimelineEvent event;
    event.ns = now_;
    event.name = name;
    event.category = category;
    event.arguments = arguments;
    parts_.writer.beginSlice(trackOf(fiber), event);
  }
}

// Requires: a slice is open.
void ThreadTimeline::pop(Fiber& fiber) {
  slices_.pop(fiber.open);
  if (isWriting_) {
    parts_.writer.endSlice(trackOf(fiber), now_);
  }
}

// Ends the innermost slice of that kind, and what is open in it.
void ThreadTimeline::popThrough(Fiber& fiber, SliceKind kind) {
  if (!fiber.open.has(kind)) {
    if (!isWriting_ && fiber.mayEndEarlier) {
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

void ThreadTimeline::popAll(Fiber& fiber) {
  while (!fiber.open.isEmpty()) {
    pop(fiber);
  }
}

void ThreadTimeline::instant(const TimelineTrack& track, std::string_view name,
                             std::span<const TimelineArgument> arguments, uint64_t arrow) {
  TimelineEvent event;
  event.ns = now_;
  event.name = name;
  event.arguments = arguments;
  event.arrowOut = arrow;
  parts_.writer.instant(track, event);
}

}  // namespace weft::inline v0_1::detail::inspect
