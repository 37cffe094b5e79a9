// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/trace_dump.h"

#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

#include "inspect/arena.h"
#include "inspect/image_names.h"
#include "inspect/images.h"
#include "inspect/recording.h"
#include "inspect/timeline_file.h"
#include "os/c_library.h"
#include "os/environment.h"
#include "scheduler/core/own_process.h"
#include "scheduler/core/trace_triggers.h"
#include "scheduler/fibers/call_aside.h"
#include "scheduler/report/dump.h"
#include "scheduler/trace/trace_file.h"
#include "weft/debug.h"
#include "weft/trace.h"

namespace weft::inline v0_1 {
namespace detail {
namespace {

class TraceDump {
 public:
  // A warning begins with `before`, `path` and `after`.
  TraceDump(const char* path, inspect::TimelineFormat format, const char* before, const char* after)
      : path_(path), format_(format), before_(before), after_(after) {}

  // Returns: whether the file is written.
  bool write() {
    callAside([](void* self) { static_cast<TraceDump*>(self)->writeFile(); }, this);
    return isWritten_;
  }

 private:
  void writeFile() noexcept try {
    const OwnProcess process;
    inspect::Arena arena;
    inspect::Recording recording(&arena);
    if (!process.isReadable()) {
      fail("the system does not let the process read its own memory");
    } else if (!process.read(recording)) {
      fail("nothing was recorded. Call weft::trace::start() first");
    } else {
      writeTo(process, recording, arena);
    }
  } catch (const std::bad_alloc&) {
    fail("the system gives no memory");
  }

  void writeTo(const OwnProcess& process, const inspect::Recording& recording, inspect::Arena& arena) {
    inspect::Images images(&arena);
    (void)images.readMaps(getpid());  // without, code has no names
    inspect::ImageNames names(images, &arena);
    using Result = inspect::TimelineFileResult;
    const Result result = inspect::writeTimelineFileAt(path_, recording, names, process.memory(), format_);
    if (result.failed == Result::Failed::Open) {
      failBySystem("it cannot be opened", result.error);
    } else if (result.failed == Result::Failed::Write) {
      failBySystem("the file is not complete", result.error);
    } else {
      isWritten_ = true;
    }
  }

  void failBySystem(const char* what, int error) const {
    const char* const text = errorText(error);
    WEFT_WARN("%s%s%s: %s (%s). Choose a path that can be written.", before_, path_, after_, what,
              text != nullptr ? text : "unknown error");
  }
  void fail(const char* why) const {
    WEFT_WARN("%s%s%s: there is no file: %s.", before_, path_, after_, why);
  }

  const char* const path_;
  const inspect::TimelineFormat format_;
  const char* const before_;
  const char* const after_;
  bool isWritten_ = false;
};

// The path from the root: at the end of the process, another directory may be the current one.
std::string absolute(const char* path) {
  char folder[PATH_MAX];
  const bool isAbsolute = *path == '/' || getcwd(folder, sizeof folder) == nullptr;
  return isAbsolute ? path : std::string(folder) + '/' + path;
}

// Of a number of milliseconds such as "20" or "0.5", whatever the locale is. Returns: zero if it is none.
std::chrono::nanoseconds timeOf(const char* text) {
  constexpr int64_t kMost = 1'000'000'000'000'000;  // nanoseconds
  int64_t time = 0;
  int64_t unit = 1'000'000;
  bool isFraction = false;
  for (; *text != '\0' && time < kMost; ++text) {
    if (*text == '.' && !isFraction) {
      isFraction = true;
    } else if (*text < '0' || *text > '9') {
      return {};
    } else if (isFraction) {
      unit /= 10;
      time += unit * (*text - '0');
    } else {
      time = time * 10 + unit * (*text - '0');
    }
  }
  return std::chrono::nanoseconds(*text == '\0' ? time : 0);
}

// Returns: the limit that the variable sets; zero if it sets none.
std::chrono::nanoseconds limitOf(const char* variable, bool hasPath) {
  const char* const wish = environmentVariable(variable);
  if (wish == nullptr) {
    return {};
  }
  const std::chrono::nanoseconds time = timeOf(wish);
  if (time.count() == 0) {
    WEFT_WARN("%s=%s is no number of milliseconds. Write 20 or 0.5, for example.", variable, wish);
  } else if (!hasPath) {
    WEFT_WARN("%s=%s has no effect without WEFT_TRACE=PATH, which says where to write.", variable, wish);
  } else if (trace::isRecording()) {
    WEFT_WARN("%s=%s has no effect: the program has called weft::trace::start() itself.", variable, wish);
  }
  return time;
}

}  // namespace

TraceFileAtExit::TraceFileAtExit(const char* variable, const char* path, inspect::TimelineFormat format)
    : before_(std::string(variable) + '='),
      file_(TraceFile::of(absolute(path).c_str())),
      format_(format),
      process_(getpid()) {}

TraceFileAtExit::~TraceFileAtExit() {
  if (getpid() == process_) {
    char path[PATH_MAX];
    file_.nextPath(true, path);
    TraceDump(path, format_, before_.c_str(), "").write();
  }
}

void obeyTraceVariable() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* const path = environmentVariable("WEFT_TRACE");
    const std::chrono::nanoseconds longestRun = limitOf("WEFT_TRACE_LONGEST_RUN", path != nullptr);
    const std::chrono::nanoseconds longestWake = limitOf("WEFT_TRACE_LONGEST_WAKE", path != nullptr);
    if (path != nullptr) {
      static const TraceFileAtExit file("WEFT_TRACE", path, inspect::timelineFormatOf(path));
      // False if it records already.
      (void)trace::start(
          {.path = absolute(path).c_str(), .longestRun = longestRun, .longestWake = longestWake});
    }
    obeyTraceSignal(path);
  });
}

}  // namespace detail

bool trace::dump(const char* path) noexcept {
  return detail::TraceDump(path, detail::inspect::timelineFormatOf(path), "trace::dump(\"", "\")").write();
}

}  // namespace weft::inline v0_1
