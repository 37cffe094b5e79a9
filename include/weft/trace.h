// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "weft/export.h"
#include "weft/finally.h"

// Shows what a program does when, on a time line for ui.perfetto.dev and chrome://tracing: weft::trace
// records it. The class Trace and the macros are those of marl, whose events stand on that time line too.

// Whether the macros record events: 0, unless a compiler flag or CMake's option defines it as 1. With 0 they
// are empty and evaluate nothing.
#if !defined(WEFT_TRACE_ENABLED)
#define WEFT_TRACE_ENABLED 0
#endif

namespace weft::inline v0_1 {

namespace detail {

extern WEFT_EXPORT constinit std::atomic<bool> isTraceRecording;

WEFT_EXPORT void recordScopeBegan(const char* name) noexcept;
WEFT_EXPORT void recordScopeEnded() noexcept;
WEFT_EXPORT void recordMark(const char* name) noexcept;
WEFT_EXPORT void recordCounter(const char* name, double value) noexcept;

}  // namespace detail

// The flight recorder: the newest events of each thread, in memory. It records when tasks begin and end, for
// what fibers wait and who wakes them, which tasks are stolen, when workers search and sleep, and what a
// program marks. A file of them is a picture for https://ui.perfetto.dev: see docs/tracing.md.
//
//   weft::trace::start();
//   frame.draw();
//   if (frame.isLate()) {
//     weft::trace::dump("late.pftrace");
//   }
// While it does not record, it costs nothing: tasks, waits and switches take the instructions that they take
// without it. While it does, an event takes some 20 ns and 16 bytes. No event waits for anything: the newest
// is written over the oldest. A worker begins to record at its next poll, so after the task that it runs has
// ended, waited or let others run.
//
// WEFT_TRACE=PATH in the environment has the first scheduler of the process start it with that Config::path,
// and the end of the process write a file too. WEFT_TRACE_SIGNAL=USR2 beside it, with any signal's name or
// number, has that signal write one, unless the signal has a handler. WEFT_TRACE_LONGEST_RUN=20 and
// WEFT_TRACE_LONGEST_WAKE=0.5 beside it set those limits of Config, in milliseconds. `weft trace PID` reads
// the events of a process that runs, and of a core file.
namespace trace {

// What is recorded, and when it is written to a file by itself.
//
//   using namespace std::chrono_literals;
//   weft::trace::start({.path = "late.pftrace", .longestRun = 50ms});
struct Config {
  size_t eventsPerThread = 65536;  // from 64 to 2^28, rounded up to a power of two; 16 bytes each
  // If not null, what was recorded is written there when something happens that one wants to look back from:
  // a finding of a Watchdog, a fatal message, an exception that ends the program, an overflow of a stack, and
  // what exceeds the times below. A line on stderr says so. Each has a file of its own: late.pftrace,
  // late-2.pftrace, ... After the eighth, the newest replaces the last: so the first ones stay, and the
  // newest, and no disk gets full. Files of an earlier process are replaced. A child of fork() writes none.
  const char* path = nullptr;  // copied
  // 0: no limit. How long a recorded task may run in one go: from its begin, or where it goes on, to where it
  // waits, lets others run or ends. Tasks in place count for the task that waits for them. Told afterwards.
  std::chrono::nanoseconds longestRun{0};
  // 0: no limit. From when a recorded fiber is woken, or the time comes for which it waits, until it goes on.
  std::chrono::nanoseconds longestWake{0};
  // After a file for longestRun, there is none for it for so long, except for a run that takes twice as long
  // as the one that was told. The same holds for longestWake.
  std::chrono::nanoseconds dumpInterval = std::chrono::seconds(10);
};

// Begins to record. A thread that has recorded before keeps the size of its ring.
// Returns: false if it records already. Errors: a message ends the program if a time is less than zero, or
// there is one without a path.
WEFT_EXPORT bool start(const Config& config = {});

// Ends to record. What was recorded stays, for dump().
WEFT_EXPORT void stop() noexcept;

// Any thread. Blocks for nothing.
inline bool isRecording() noexcept {
  // relaxed: it publishes nothing.
  return detail::isTraceRecording.load(std::memory_order_relaxed);
}

// Writes what was recorded since the last start() to a file, as Chrome's JSON if the path ends with ".json",
// else as Perfetto's trace. It may go on meanwhile: what is written over is left out, and the file says so.
// Any thread or task. Blocks the thread for the writing. 65,536 events take some 100 ms. Calls no malloc.
// Returns: false, after a warning that says why, if nothing was recorded, or the file cannot be written.
WEFT_EXPORT bool dump(const char* path) noexcept;

// Writes a file each time the process gets `signal`, by a thread of its own: numbered as those of
// Config::path. All such signals share the newest `path`, which is copied. Replaces the signal's handler. A
// child of fork() writes nothing.
// Returns: false if the system refuses the handler or the thread.
WEFT_EXPORT bool dumpOnSignal(int signal, const char* path);

// Marks the time from its beginning to its end on the line of the fiber, or of a thread outside of fibers.
// Requires: `name` lives as long as the process, as a string literal does. The object begins and ends in one
// task.
class Scope {
 public:
  // Begins the time; the destructor ends it.
  explicit Scope(const char* name) noexcept : isRecorded_(isRecording()) {
    if (isRecorded_) [[unlikely]] {
      detail::recordScopeBegan(name);
    }
  }
  ~Scope() {
    if (isRecorded_) [[unlikely]] {
      detail::recordScopeEnded();
    }
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const bool isRecorded_;
};

// Marks a moment. Requires: `name` lives as long as the process.
inline void mark(const char* name) noexcept {
  if (isRecording()) [[unlikely]] {
    detail::recordMark(name);
  }
}

// Adds a point to the curve of that name. Requires: `name` lives as long as the process.
inline void counter(const char* name, double value) noexcept {
  if (isRecording()) [[unlikely]] {
    detail::recordCounter(name, value);
  }
}

}  // namespace trace

// Marks times as marl does, by names that are given as for printf: a format and arguments. The marks go to
// the flight recorder, onto the line of the calling fiber, or of a thread outside of fibers.
//
// The end of the process writes what the recorder holds then, as Chrome's JSON, to the file that the
// environment variable WEFT_TRACE_FILE names; without it, to chrome.trace in the directory that was the
// current one at the first get(). A child of fork() writes none. Only the newest events of each thread are
// kept, among them names of lines, and only 32 threads of those that have ended. A scope takes three to seven
// events. To keep more, call weft::trace::start() with more eventsPerThread before the first mark.
class WEFT_EXPORT Trace {
 public:
  static constexpr int MaxEventNameLength = 64;  // bytes; longer names are cut

  // Returns: the only Trace. The first call starts the recorder, unless it records already, and asks for the
  // file. After weft::trace::stop(), nothing is recorded until the program calls weft::trace::start().
  static Trace* get();

  // Name the line of the calling fiber or thread; begin an event on that line; end the newest event on it.
  // Any thread. Wait for nobody.
  [[gnu::format(printf, 2, 3)]] void nameThread(const char* format, ...);
  [[gnu::format(printf, 2, 3)]] void beginEvent(const char* format, ...);
  void endEvent();
  // Begin and end an event that may begin and end on different threads. Beginning and end need equal `id` and
  // equal names.
  [[gnu::format(printf, 3, 4)]] void beginAsyncEvent(uint32_t id, const char* format, ...);
  [[gnu::format(printf, 3, 4)]] void endAsyncEvent(uint32_t id, const char* format, ...);

  // An event that lasts as long as the object: what WEFT_SCOPED_EVENT makes.
  class WEFT_EXPORT ScopedEvent {
   public:
    // Begins the event; the destructor ends it.
    [[gnu::format(printf, 2, 3)]] explicit ScopedEvent(const char* format, ...);
    ~ScopedEvent();
    ScopedEvent(const ScopedEvent&) = delete;
    ScopedEvent& operator=(const ScopedEvent&) = delete;
  };

  // An asynchronous event that lasts as long as the object: what WEFT_SCOPED_ASYNC_EVENT makes.
  class WEFT_EXPORT ScopedAsyncEvent {
   public:
    // Begins the event; the destructor ends it, on any thread.
    [[gnu::format(printf, 3, 4)]] ScopedAsyncEvent(uint32_t id, const char* format, ...);
    ~ScopedAsyncEvent();
    ScopedAsyncEvent(const ScopedAsyncEvent&) = delete;
    ScopedAsyncEvent& operator=(const ScopedAsyncEvent&) = delete;

   private:
    const uint32_t id_;
    char name_[MaxEventNameLength];
  };

 private:
  Trace() = default;
  ~Trace() = default;
};

}  // namespace weft::inline v0_1

#if WEFT_TRACE_ENABLED
// An event from here to the end of the scope: WEFT_SCOPED_EVENT("parse %s", path).
#define WEFT_SCOPED_EVENT(...) \
  const ::weft::Trace::ScopedEvent WEFT_CONCAT(weft_event_, __LINE__)(__VA_ARGS__)
// An event from one place to another, on any threads. It begins with
// WEFT_BEGIN_ASYNC_EVENT(request.id, "request") and ends with WEFT_END_ASYNC_EVENT(request.id, "request").
#define WEFT_BEGIN_ASYNC_EVENT(id, ...) ::weft::Trace::get()->beginAsyncEvent(id, __VA_ARGS__)
#define WEFT_END_ASYNC_EVENT(id, ...) ::weft::Trace::get()->endAsyncEvent(id, __VA_ARGS__)
// Begins and ends an asynchronous event with a scope: WEFT_SCOPED_ASYNC_EVENT(request.id, "request").
#define WEFT_SCOPED_ASYNC_EVENT(...) \
  const ::weft::Trace::ScopedAsyncEvent WEFT_CONCAT(weft_async_event_, __LINE__)(__VA_ARGS__)
// Names the line of the calling fiber or thread: WEFT_NAME_THREAD("reader %d", i).
#define WEFT_NAME_THREAD(...) ::weft::Trace::get()->nameThread(__VA_ARGS__)
#else
#define WEFT_SCOPED_EVENT(...)
#define WEFT_BEGIN_ASYNC_EVENT(id, ...)
#define WEFT_END_ASYNC_EVENT(id, ...)
#define WEFT_SCOPED_ASYNC_EVENT(...)
#define WEFT_NAME_THREAD(...)
#endif

#include "weft/detail/base/macros_end.h"
