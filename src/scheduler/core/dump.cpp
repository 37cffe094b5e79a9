// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/dump.h"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string>

#include "inspect/arena.h"
#include "inspect/image_names.h"
#include "inspect/images.h"
#include "inspect/report.h"
#include "inspect/snapshot.h"
#include "inspect/text.h"
#include "inspect/unwinder.h"
#include "scheduler/core/own_process.h"
#include "scheduler/fibers/call_aside.h"
#include "scheduler/report/dump.h"
#include "scheduler/worker/process_fork.h"
#include "weft/debug.h"

namespace weft::inline v0_1 {
namespace detail {
namespace {

struct Request {
  inspect::Text::Write write;
  void* context;
  inspect::Address only;
};

// The memory has the schedulers as they were at the fork: a dump of them would look like one of now.
void sayThatItIsAChild(inspect::Text& out) {
  out << "weft: no dump: process ";
  out.decimal(static_cast<uint32_t>(getpid()))
      << " is a child of fork() that has not called exec(). The schedulers in its memory, and their threads, "
         "are those of the process that forked: look at that one.\n";
}

void read(const Request& request, inspect::Text& out) {
  if (isChildWithoutWorkers()) {
    sayThatItIsAChild(out);
    return;
  }
  const OwnProcess process;
  if (!process.isReadable()) {
    out << "weft: no dump: the system does not let the process read its own memory\n";
    return;
  }
  inspect::Arena arena;
  inspect::Images images(&arena);
  (void)images.readMaps(getpid());  // without, addresses have no names; the report says so
  inspect::Unwinder unwinder(images, &arena);
  inspect::Snapshot snapshot(&arena);
  process.read(snapshot, &unwinder, request.only);
  inspect::ImageNames names(images, &arena);
  inspect::writeReport(out, snapshot, names, {});
}

void dumpAside(void* argument) {
  const Request& request = *static_cast<const Request*>(argument);
  inspect::Text out(request.write, request.context);
  try {
    read(request, out);
  } catch (const std::bad_alloc&) {
    out << "weft: no dump, or not all of it: the system gives no memory\n";
  }
}

struct TaskCount {
  inspect::Address only;
  std::optional<size_t> numRunning{};
};

void countAside(void* argument) {
  TaskCount& count = *static_cast<TaskCount*>(argument);
  const OwnProcess process;
  if (!process.isReadable()) {
    return;
  }
  try {
    inspect::Arena arena;
    inspect::Snapshot snapshot(&arena);
    process.read(snapshot, nullptr, count.only);
    const auto runsTask = [&](const inspect::Worker& worker) {
      const inspect::Fiber* const fiber = snapshot.runningOn(worker);
      return worker.state == inspect::Worker::State::Busy && fiber != nullptr && fiber->task != 0 &&
             fiber->state == inspect::Fiber::State::Running;
    };
    count.numRunning =
        static_cast<size_t>(std::count_if(snapshot.workers.begin(), snapshot.workers.end(), runsTask));
  } catch (const std::bad_alloc&) {
    // The number stays unknown.
  }
}

}  // namespace

std::optional<size_t> numRunningTasks(const Scheduler* only) noexcept {
  TaskCount count{reinterpret_cast<inspect::Address>(only)};
  callAside(&countAside, &count);
  return count.numRunning;
}

void writeDump(inspect::Text::Write write, void* context, const Scheduler* only) noexcept {
  Request request{write, context, reinterpret_cast<inspect::Address>(only)};
  callAside(&dumpAside, &request);
}

void toStderr(void*, const char* text, size_t size) { writeStderr(text, size); }

void dumpToStderr(const Scheduler* only) noexcept { writeDump(&toStderr, nullptr, only); }

}  // namespace detail

void dump() noexcept { detail::dumpToStderr(); }

std::string dumpText() {
  std::string text;
  detail::writeDump(&detail::inspect::appendTo, &text);
  return text;
}

}  // namespace weft::inline v0_1
