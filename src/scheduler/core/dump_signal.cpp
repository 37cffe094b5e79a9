// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "os/detached_thread.h"
#include "scheduler/report/dump.h"
#include "weft/debug.h"
#include "weft/dump.h"

// A dump takes some time, and memory. So the handler only wakes a thread, which is there for dumps alone. A
// child of fork() has the handler but not the thread: there the handler itself dumps.
namespace weft::inline v0_1 {
namespace detail {
namespace {

sem_t dumpsWanted;
// Of the thread; written once, before a handler is set. relaxed: sigaction() comes between.
constinit std::atomic<pid_t> processOfThread{0};

void handleSignal(int) {
  const int error = errno;
  if (processOfThread.load(std::memory_order_relaxed) == getpid()) {
    sem_post(&dumpsWanted);
  } else {
    dump();
  }
  errno = error;
}

void* dumpForEver(void*) {
  // The program's own threads get its signals.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  pthread_setname_np(pthread_self(), "weft:dump");
  for (;;) {
    if (sem_wait(&dumpsWanted) == 0) {
      dump();
    }
  }
}

// Returns: whether there is a thread that dumps.
bool startThread() {
  static const bool isStarted = [] {
    processOfThread.store(getpid(), std::memory_order_relaxed);
    return sem_init(&dumpsWanted, 0, 0) == 0 && startDetachedThread(&dumpForEver, nullptr) == 0;
  }();
  return isStarted;
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

void obey(const char* wish) {
  const int signal = signalOf(wish);
  struct sigaction current{};
  if (signal == 0 || sigaction(signal, nullptr, &current) != 0) {
    WEFT_WARN("WEFT_DUMP_SIGNAL=%s names no signal. Write USR1, for example.", wish);
  } else if (current.sa_handler != SIG_DFL) {
    WEFT_WARN("WEFT_DUMP_SIGNAL=%s: the program handles or ignores that signal itself. Choose another one.",
              wish);
  } else if (!dumpOnSignal(signal)) {
    WEFT_WARN("WEFT_DUMP_SIGNAL=%s: the system refuses a handler or a thread for it.", wish);
  }
}

}  // namespace

void obeyDumpSignal() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* const wish = std::getenv("WEFT_DUMP_SIGNAL");
    if (wish != nullptr && *wish != '\0') {
      obey(wish);
    }
  });
}

}  // namespace detail

bool dumpOnSignal(int signal) {
  if (!detail::startThread()) {
    return false;
  }
  struct sigaction action{};
  action.sa_handler = detail::handleSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  return sigaction(signal, &action, nullptr) == 0;
}

}  // namespace weft::inline v0_1
