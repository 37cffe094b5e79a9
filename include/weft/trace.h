// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/export.h"
#include "weft/finally.h"

// Shows what a program does when: writes events on a time line, for chrome://tracing and ui.perfetto.dev.
// Programs use the macros. A name is given as for printf: a format and arguments.

// Whether there are events: 0, unless a compiler flag or CMake's option defines it as 1. With 0 the macros of
// this header are empty and evaluate nothing.
#if !defined(WEFT_TRACE_ENABLED)
#define WEFT_TRACE_ENABLED 0
#endif

namespace weft::inline v0_1 {

// The flight recorder.
namespace trace {

struct Config {
  size_t eventsPerThread = 65536;
};

WEFT_EXPORT bool start(const Config& config = {});
WEFT_EXPORT void stop() noexcept;
WEFT_EXPORT bool isRecording() noexcept;

}  // namespace trace

namespace detail {

extern WEFT_EXPORT constinit std::atomic<bool> isTraceRecording;

}  // namespace detail

// Writes events as JSON in Chrome's trace format. The environment variable WEFT_TRACE_FILE names the file;
// without it, it is chrome.trace in the current directory. The file is complete once the program has exited.
// Each fiber has a line of its own, since its events overlap with those of other fibers of its thread.
class WEFT_EXPORT Trace {
 public:
  static constexpr int MaxEventNameLength = 64;  // bytes; longer names are cut

  // Returns: the only Trace. The first call opens the file.
  static Trace* get();

  // Name the line of the calling fiber or thread; begin an event on that line; end the newest event on it.
  // Any thread. Block for a write to a buffer, and now and then for one to the file.
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
  struct Impl;

  explicit Trace(Impl* impl) : impl_(impl) {}
  ~Trace() = default;

  Impl* const impl_;
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
