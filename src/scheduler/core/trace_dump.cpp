// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "inspect/arena.h"
#include "inspect/file_output.h"
#include "inspect/image_names.h"
#include "inspect/images.h"
#include "inspect/recording.h"
#include "inspect/text.h"
#include "inspect/timeline_file.h"
#include "scheduler/core/own_process.h"
#include "scheduler/fibers/call_aside.h"
#include "scheduler/report/dump.h"
#include "weft/debug.h"
#include "weft/trace.h"

namespace weft::inline v0_1 {
namespace detail {
namespace {

class TraceDump {
 public:
  explicit TraceDump(const char* path) : path_(path) {}

  static void run(void* self) { static_cast<TraceDump*>(self)->writeFile(); }
  bool isWritten() const { return isWritten_; }

 private:
  void writeFile() noexcept try {
    const OwnProcess process;
    inspect::Arena arena;
    inspect::TraceRecording recording(&arena);
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

  void writeTo(const OwnProcess& process, const inspect::TraceRecording& recording, inspect::Arena& arena) {
    const int file = open(path_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
      failBySystem("it cannot be opened", errno);
      return;
    }
    inspect::Images images(&arena);
    (void)images.readMaps(getpid());  // without, code has no names
    inspect::ImageNames names(images, &arena);
    inspect::FileOutput output(file);
    {
      inspect::Text text(&inspect::FileOutput::write, &output);
      inspect::writeTimelineFile(recording, names, process.memory(), inspect::timelineFormatOf(path_), text);
    }
    const int closeError = close(file) == 0 ? 0 : errno;
    const int error = output.error() != 0 ? output.error() : closeError;
    if (error != 0) {
      failBySystem("the file is not complete", error);
      return;
    }
    isWritten_ = true;
  }

  void failBySystem(const char* what, int error) const {
    WEFT_WARN("trace::dump(\"%s\"): %s (%s). Choose a path that can be written.", path_, what,
              strerrordesc_np(error));
  }
  void fail(const char* why) const { WEFT_WARN("trace::dump(\"%s\"): there is no file: %s.", path_, why); }

  const char* const path_;
  bool isWritten_ = false;
};

// Of WEFT_TRACE, in the process that has obeyed it. A child of fork() that ends writes nothing.
const char* pathAtExit = nullptr;
pid_t processOfPath = 0;

void dumpAtExit() {
  if (getpid() == processOfPath) {
    trace::dump(pathAtExit);
  }
}

}  // namespace

void obeyTraceVariable() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* const path = std::getenv("WEFT_TRACE");
    if (path != nullptr && *path != '\0' && trace::start()) {
      pathAtExit = path;
      processOfPath = getpid();
      std::atexit(&dumpAtExit);
    }
  });
}

}  // namespace detail

bool trace::dump(const char* path) noexcept {
  detail::TraceDump dump(path);
  detail::callAside(&detail::TraceDump::run, &dump);
  return dump.isWritten();
}

}  // namespace weft::inline v0_1
