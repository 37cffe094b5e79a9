// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/trace.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "inspect/json_text.h"
#include "weft/debug.h"
#include "weft/fiber.h"

namespace weft::inline v0_1 {
namespace {

constexpr size_t kNameBytes = Trace::MaxEventNameLength;

// Returns: the trace's line for the caller's events: thread and fiber, in a number that JavaScript holds.
uint64_t currentLine() {
  static thread_local const auto thread = static_cast<uint64_t>(::gettid());
  const Fiber* fiber = detail::currentFiber;
  return thread * 1'000'000 + (fiber != nullptr ? fiber->id % 1'000'000 : 0);
}

long long now() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
}

// A name as printf makes it, escaped for JSON.
struct Name {
  [[gnu::format(printf, 2, 0)]] Name(const char* format, va_list arguments) {
    char plain[kNameBytes];
    if (std::vsnprintf(plain, sizeof plain, format, arguments) < 0) {
      plain[0] = '\0';
    }
    detail::inspect::writeJsonText(plain, text);
  }
  char text[kNameBytes * detail::inspect::kJsonBytesPerByte + 1];
};

}  // namespace

// The trace's file. The mutex is a thread's mutex: no fiber suspends while it is held.
struct Trace::Impl {
  std::mutex mutex;
  std::FILE* file = nullptr;  // null once the program exits, or where it cannot be written
  bool isFirst = true;

  void open() {
    const char* path = std::getenv("WEFT_TRACE_FILE");
    path = path != nullptr ? path : "chrome.trace";
    file = std::fopen(path, "we");
    if (file == nullptr) {
      WEFT_WARN(
          "Trace: %s cannot be written (%s); there will be no trace. Set WEFT_TRACE_FILE to a path that can.",
          path, std::strerror(errno));
      return;
    }
    std::fputs("[", file);
    std::atexit([] { Trace::get()->impl_->close(); });
  }

  void close() {
    std::scoped_lock held(mutex);
    if (file != nullptr) {
      std::fputs("\n]\n", file);
      if (std::fclose(file) != 0) {
        WEFT_WARN("Trace: the trace is not complete (%s).", std::strerror(errno));
      }
      file = nullptr;
    }
  }

  [[gnu::format(printf, 3, 4)]] void write(char phase, const char* format, ...) {
    const long long time = now();
    std::scoped_lock held(mutex);
    if (file == nullptr) {
      return;
    }
    // The time is in microseconds. %f is not used, because it writes a comma in some languages.
    std::fprintf(file, "%s\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%llu,\"ts\":%lld.%03lld", isFirst ? "" : ",",
                 phase, static_cast<int>(::getpid()), static_cast<unsigned long long>(currentLine()),
                 time / 1000, time % 1000);
    isFirst = false;
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(file, format, arguments);
    va_end(arguments);
    std::fputc('}', file);
  }

  [[gnu::format(printf, 4, 0)]] void writeAsync(char phase, uint32_t id, const char* format,
                                                va_list arguments) {
    write(phase, ",\"cat\":\"weft\",\"id\":%u,\"name\":\"%s\"", id, Name(format, arguments).text);
  }
};

Trace* Trace::get() {
  // Never destroyed: threads may still write while the program exits.
  static Trace* const trace = [] {
    static Impl* const impl = new Impl;
    impl->open();
    return new Trace(impl);
  }();
  return trace;
}

void Trace::nameThread(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  impl_->write('M', ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}", Name(format, arguments).text);
  va_end(arguments);
}

void Trace::beginEvent(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  impl_->write('B', ",\"name\":\"%s\"", Name(format, arguments).text);
  va_end(arguments);
}

void Trace::endEvent() { impl_->write('E', "%s", ""); }

void Trace::beginAsyncEvent(uint32_t id, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  impl_->writeAsync('b', id, format, arguments);
  va_end(arguments);
}

void Trace::endAsyncEvent(uint32_t id, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  impl_->writeAsync('e', id, format, arguments);
  va_end(arguments);
}

Trace::ScopedEvent::ScopedEvent(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  get()->impl_->write('B', ",\"name\":\"%s\"", Name(format, arguments).text);
  va_end(arguments);
}

Trace::ScopedEvent::~ScopedEvent() { get()->endEvent(); }

Trace::ScopedAsyncEvent::ScopedAsyncEvent(uint32_t id, const char* format, ...) : id_(id) {
  va_list arguments;
  va_start(arguments, format);
  if (std::vsnprintf(name_, sizeof name_, format, arguments) < 0) {
    name_[0] = '\0';
  }
  va_end(arguments);
  get()->beginAsyncEvent(id_, "%s", name_);
}

Trace::ScopedAsyncEvent::~ScopedAsyncEvent() { get()->endAsyncEvent(id_, "%s", name_); }

}  // namespace weft::inline v0_1
