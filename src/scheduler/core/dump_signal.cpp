// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "os/environment.h"
#include "scheduler/core/dump_thread.h"
#include "scheduler/core/trace_triggers.h"
#include "scheduler/report/dump.h"
#include "weft/debug.h"
#include "weft/dump.h"
#include "weft/trace.h"

namespace weft::inline v0_1 {
namespace detail {
namespace {

// A child of fork() has the handler but not the thread: there the handler itself dumps.
void handleSignal(int) {
  const int error = errno;
  if (!requestDump(DumpJob::Text)) {
    dump();
  }
  errno = error;
}

// A child's events are its parent's, which writes them itself.
void handleTraceSignal(int) {
  const int error = errno;
  requestDump(DumpJob::TraceAtSignal);
  errno = error;
}

bool handle(int signal, void (*handler)(int)) {
  if (!startDumpThread()) {
    return false;
  }
  struct sigaction action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  return sigaction(signal, &action, nullptr) == 0;
}

constexpr std::pair<const char*, int> kNamed[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},
                                                  {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"TERM", SIGTERM}};

// Returns: the signal's number for "USR1", "SIGUSR1" or "10"; 0 for anything else.
int signalOf(const char* name) {
  char* end = nullptr;
  const long number = std::strtol(name, &end, 10);
  if (end != name && *end == '\0') {
    return number > 0 && number <= SIGRTMAX ? static_cast<int>(number) : 0;
  }
  const char* const bare = std::strncmp(name, "SIG", 3) == 0 ? name + 3 : name;
  for (const auto& [known, signal] : kNamed) {
    if (std::strcmp(bare, known) == 0) {
      return signal;
    }
  }
  return 0;
}

// `variable`, whose value is `wish`, names a signal at which `handler` is to be called.
void obey(const char* variable, const char* wish, void (*handler)(int)) {
  const int signal = signalOf(wish);
  struct sigaction current{};
  if (signal == 0 || sigaction(signal, nullptr, &current) != 0) {
    WEFT_WARN("%s=%s names no signal. Write USR1, for example.", variable, wish);
  } else if (current.sa_handler != SIG_DFL) {
    WEFT_WARN("%s=%s: the program handles or ignores that signal itself. Choose another one.", variable,
              wish);
  } else if (!handle(signal, handler)) {
    WEFT_WARN("%s=%s: the system refuses a handler or a thread for it.", variable, wish);
  }
}

}  // namespace

void obeyDumpSignal() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* const wish = environmentVariable("WEFT_DUMP_SIGNAL");
    if (wish != nullptr) {
      obey("WEFT_DUMP_SIGNAL", wish, &handleSignal);
    }
  });
}

void obeyTraceSignal(const char* path) {
  const char* const wish = environmentVariable("WEFT_TRACE_SIGNAL");
  if (wish == nullptr) {
    return;
  }
  if (path == nullptr) {
    WEFT_WARN("WEFT_TRACE_SIGNAL=%s has no effect without WEFT_TRACE=PATH, which says where to write.", wish);
    return;
  }
  setFileOfSignal(path);
  obey("WEFT_TRACE_SIGNAL", wish, &handleTraceSignal);
}

}  // namespace detail

bool dumpOnSignal(int signal) { return detail::handle(signal, &detail::handleSignal); }

bool trace::dumpOnSignal(int signal, const char* path) {
  detail::setFileOfSignal(path);
  return detail::handle(signal, &detail::handleTraceSignal);
}

}  // namespace weft::inline v0_1
