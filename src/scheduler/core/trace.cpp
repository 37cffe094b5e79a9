// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/trace.h"

#include <bit>
#include <cstdarg>
#include <cstdio>

#include "os/environment.h"
#include "scheduler/core/trace_dump.h"
#include "scheduler/trace/recorder.h"
#include "scheduler/worker/worker.h"

// What a program says of itself in the flight recorder.
namespace weft::inline v0_1 {
namespace detail {
namespace {

using NameBytes = char[Trace::MaxEventNameLength];

// Events of the calling thread. A worker that has not noticed yet that the recorder records does so here:
// otherwise nothing would say on which fiber the events are.
TraceEvents eventsOfProgram() {
  if (Worker* const worker = Worker::current()) {
    worker->followWishes();
  }
  return {};
}

[[gnu::format(printf, 2, 0)]] void writeName(NameBytes& to, const char* format, va_list arguments) {
  if (std::vsnprintf(to, sizeof to, format, arguments) < 0) {
    to[0] = '\0';
  }
}

// An event whose name follows in Text.
[[gnu::format(printf, 3, 0)]] void recordNamed(TraceKind kind, uint64_t operand, const char* format,
                                               va_list arguments) {
  if (isRecording()) {
    NameBytes name;
    writeName(name, format, arguments);
    eventsOfProgram().add(kind, operand).addText(name);
  }
}

}  // namespace

void recordScopeBegan(const char* name) noexcept { eventsOfProgram().add(TraceKind::ScopeBegan, name); }
void recordScopeEnded() noexcept { eventsOfProgram().add(TraceKind::ScopeEnded); }
void recordMark(const char* name) noexcept { eventsOfProgram().add(TraceKind::Mark, name); }
void recordCounter(const char* name, double value) noexcept {
  eventsOfProgram()
      .add(TraceKind::CounterNamed, name)
      .add(TraceKind::CounterValue, std::bit_cast<uint64_t>(value));
}

}  // namespace detail

using detail::TraceKind;

Trace* Trace::get() {
  static Trace only;  // its destructor does nothing, so that threads may use it while the program exits
  static const detail::TraceFileAtExit file = [] {
    (void)trace::start();  // false if it records already
    const char* const path = detail::environmentVariable("WEFT_TRACE_FILE");
    return detail::TraceFileAtExit("WEFT_TRACE_FILE", path != nullptr ? path : "chrome.trace",
                                   detail::inspect::TimelineFormat::ChromeJson);
  }();
  return &only;
}

void Trace::nameThread(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  detail::recordNamed(TraceKind::TrackNamed, 0, format, arguments);
  va_end(arguments);
}

void Trace::beginEvent(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  detail::recordNamed(TraceKind::ScopeBegan, 0, format, arguments);
  va_end(arguments);
}

void Trace::endEvent() {
  if (trace::isRecording()) {
    detail::recordScopeEnded();
  }
}

void Trace::beginAsyncEvent(uint32_t id, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  detail::recordNamed(TraceKind::AsyncBegan, id, format, arguments);
  va_end(arguments);
}

void Trace::endAsyncEvent(uint32_t id, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  detail::recordNamed(TraceKind::AsyncEnded, id, format, arguments);
  va_end(arguments);
}

Trace::ScopedEvent::ScopedEvent(const char* format, ...) {
  get();
  va_list arguments;
  va_start(arguments, format);
  detail::recordNamed(TraceKind::ScopeBegan, 0, format, arguments);
  va_end(arguments);
}

Trace::ScopedEvent::~ScopedEvent() { get()->endEvent(); }

Trace::ScopedAsyncEvent::ScopedAsyncEvent(uint32_t id, const char* format, ...) : id_(id) {
  va_list arguments;
  va_start(arguments, format);
  detail::writeName(name_, format, arguments);
  va_end(arguments);
  get()->beginAsyncEvent(id_, "%s", name_);
}

Trace::ScopedAsyncEvent::~ScopedAsyncEvent() { get()->endAsyncEvent(id_, "%s", name_); }

}  // namespace weft::inline v0_1
