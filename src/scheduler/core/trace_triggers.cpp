// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/trace_triggers.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string_view>

#include "inspect/arena.h"
#include "inspect/image_names.h"
#include "inspect/images.h"
#include "inspect/phrases.h"
#include "inspect/text.h"
#include "os/last_act.h"
#include "scheduler/core/dump_thread.h"
#include "scheduler/report/dump.h"
#include "scheduler/trace/late_watch.h"
#include "scheduler/trace/recorder.h"
#include "scheduler/trace/trace_file.h"
#include "scheduler/trace/triggers.h"
#include "weft/debug.h"

namespace weft::inline v0_1::detail {
namespace {

constinit std::atomic<TraceFile*> fileOfSignal{nullptr};
constinit std::atomic<TraceFile*> fileOfConfig{nullptr};
constinit std::atomic<pid_t> recordingProcess{0};

// Returns: where triggers write; null if they do not, as in a child of fork(), whose parent writes.
TraceFile* fileOfTriggers() noexcept {
  // relaxed: it publishes nothing.
  if (!isRecording() || recordingProcess.load(std::memory_order_relaxed) != getpid()) {
    return nullptr;
  }
  // (3) acquire: sees the file; pairs with (4).
  return fileOfConfig.load(std::memory_order_acquire);
}

bool dumpTo(TraceFile& file, bool isLast, char (&path)[PATH_MAX]) noexcept {
  file.nextPath(isLast, path);
  return trace::dump(path);
}

constexpr std::string_view kEventsAreIn = "the events of the flight recorder are in ";

void writeFile(inspect::Text& out, const char* path) {
  out << kEventsAreIn << std::string_view(path) << '\n';
}

void writeWorker(inspect::Text& out, const WorkerName& worker) {
  inspect::writeWorkerName(out, worker.number, worker.threadId, getpid());
}

// "ran for 14 ms in one go on worker 0, longer than trace::Config::longestRun"
void writeLateRun(inspect::Text& out, const Lateness& late) {
  inspect::writeDuration(out << " ran for ", late.duration);
  writeWorker(out << " in one go on ", late.worker);
  out << ", longer than trace::Config::longestRun";
}

// "went on only 18 ms after it was woken, longer than trace::Config::longestWake; worker 0 ran task A for 14
// ms of these, in 2 goes"
void writeLateWake(inspect::Text& out, const Lateness& late, inspect::ImageNames& names) {
  inspect::writeDuration(out << " went on only ", late.duration);
  out << (late.kind == LateKind::Wake ? " after it was woken" : " after its time had come")
      << ", longer than trace::Config::longestWake";
  if (late.blocker != nullptr) {
    writeWorker(out << "; ", late.worker);
    names.writeTask(out << " ran task ", reinterpret_cast<inspect::Address>(late.blocker));
    inspect::writeDuration(out << " for ", late.blockedFor);
    out << " of these";
    if (late.numRuns > 1) {
      out << ", in ";
      out.decimal(late.numRuns) << " goes";
    }
  }
}

void writeLateness(inspect::Text& out, const Lateness& late) noexcept try {
  inspect::Arena arena;
  inspect::Images images(&arena);
  (void)images.readMaps(getpid());  // without, code has no names
  inspect::ImageNames names(images, &arena);
  out << "weft: ";
  if (late.task != nullptr) {
    names.writeTask(out << "task ", reinterpret_cast<inspect::Address>(late.task));
  } else {
    out << "code outside of tasks";
  }
  if (late.kind == LateKind::Run) {
    writeLateRun(out, late);
  } else {
    writeLateWake(out, late, names);
  }
  out << ": ";
} catch (const std::bad_alloc&) {
  out << "a run or a wake took longer than trace::Config allows: ";
}

// While it exists, faults and a long time end the process by abort().
class EndInAnyCase {
 public:
  EndInAnyCase() noexcept {
    struct sigaction action{};
    action.sa_handler = &end;
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < kNum; ++i) {
      sigaction(kSignals[i], &action, &before_[i]);
    }
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
    alarm(kMostSeconds);
  }
  ~EndInAnyCase() {
    alarm(0);
    for (int i = 0; i < kNum; ++i) {
      sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  EndInAnyCase(const EndInAnyCase&) = delete;
  EndInAnyCase& operator=(const EndInAnyCase&) = delete;

 private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGALRM};
  static constexpr int kNum = 3;
  static constexpr unsigned kMostSeconds = 30;

  static void end(int) {
    constexpr std::string_view kText = "weft: warning: the events of the flight recorder are not written.\n";
    writeStderr(kText.data(), kText.size());
    std::abort();
  }

  struct sigaction before_[kNum]{};
};

// The thread that writes before the process ends. relaxed: it only elects one.
constinit std::atomic<pid_t> lastWriter{0};

// Returns: whether this is the first call of the process. Another thread's call waits for the end of the
// process, which the first brings.
bool isFirstToEnd() noexcept {
  pid_t other = 0;
  if (lastWriter.compare_exchange_strong(other, gettid(), std::memory_order_relaxed)) {
    return true;
  }
  while (other != gettid()) {
    pause();
  }
  return false;
}

}  // namespace

void setFileOfSignal(const char* path) {
  // (1) release: the file is made; pairs with (2).
  fileOfSignal.store(&TraceFile::of(path), std::memory_order_release);
}

void dumpTraceAtSignal() noexcept {
  // (2) acquire: sees the file; pairs with (1).
  TraceFile* const file = fileOfSignal.load(std::memory_order_acquire);
  char path[PATH_MAX];
  if (dumpTo(*file, false, path)) {
    inspect::Text out(&toStderr, nullptr);
    writeFile(out << "weft: ", path);
  }
}

bool requestLateDump() noexcept { return requestDump(DumpJob::TraceOfLateness); }

void dumpTraceOfLateness() noexcept {
  char path[PATH_MAX];
  TraceFile* const file = fileOfTriggers();
  if (file != nullptr && dumpTo(*file, false, path)) {
    inspect::Text out(&toStderr, nullptr);
    writeLateness(out, lateWatch.late());
    writeFile(out, path);
  }
  lateWatch.finish();
}

bool dumpTraceOfFinding(char (&path)[PATH_MAX]) noexcept {
  TraceFile* const file = fileOfTriggers();
  return file != nullptr && dumpTo(*file, false, path);
}

void dumpTraceBeforeEnd() noexcept {
  TraceFile* const file = fileOfTriggers();
  if (file == nullptr || !isFirstToEnd()) {
    return;
  }
  const EndInAnyCase end;
  // The stack may be a small fiber's.
  static char path[PATH_MAX];
  if (dumpTo(*file, true, path)) {
    for (const std::string_view each :
         {std::string_view("weft: "), kEventsAreIn, std::string_view(path), std::string_view("\n")}) {
      writeStderr(each.data(), each.size());
    }
  }
}

void prepareTriggers(const char* path, bool isThreadWanted) {
  // (4) release: the file is made; pairs with (3).
  fileOfConfig.store(path != nullptr ? &TraceFile::of(path) : nullptr, std::memory_order_release);
  // relaxed: it publishes nothing.
  recordingProcess.store(getpid(), std::memory_order_relaxed);
  setLastAct(&dumpTraceBeforeEnd);
  if (isThreadWanted && !startDumpThread()) {
    WEFT_WARN("trace::start(): the system refuses a thread. No file is written of what takes long.");
  }
}

}  // namespace weft::inline v0_1::detail
