// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "inspect/arena.h"
#include "inspect/image_names.h"
#include "inspect/images.h"
#include "inspect/snapshot.h"
#include "inspect/unwinder.h"
#include "os/environment.h"
#include "os/keep_loaded.h"
#include "scheduler/core/other_threads.h"
#include "scheduler/core/own_process.h"
#include "scheduler/core/trace_triggers.h"
#include "scheduler/core/watchdog_rules.h"
#include "scheduler/core/watchdog_text.h"
#include "scheduler/report/dump.h"
#include "scheduler/worker/process_fork.h"
#include "weft/debug.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/park/parker.h"
#include "weft/watchdog.h"

namespace weft::inline v0_1 {
namespace detail {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kShortestPeriod = std::chrono::milliseconds(1);
constexpr nanoseconds kLongestPeriod = std::chrono::seconds(1);
constexpr nanoseconds kSoon = std::chrono::milliseconds(10);

void check(nanoseconds time, const char* what) {
  WEFT_ASSERT(time > nanoseconds(0), "Watchdog: Config::%s of %lld ns makes no sense; more than zero does.",
              what, static_cast<long long>(time.count()));
}

nanoseconds periodFor(const Watchdog::Config& config) {
  const nanoseconds shortest = std::min({config.longestTask, config.longestDelay, config.longestStandstill});
  return std::clamp(shortest / 4, kShortestPeriod, kLongestPeriod);
}

const Watchdog::Config& checked(const Watchdog::Config& config) {
  assertNotForked("Watchdog()");
  check(config.longestTask, "longestTask");
  check(config.longestDelay, "longestDelay");
  check(config.longestStandstill, "longestStandstill");
  return config;
}

// What one look at the process takes. All memory goes back at its end.
class Look {
 public:
  // How many tasks are placed on a worker matters only where they are told of, and may be very many.
  explicit Look(const OwnProcess& process) : process_(process) {
    process_.read(snapshot_, nullptr, 0, inspect::Letters::Noticed);
  }

  const inspect::Snapshot& snapshot() const { return snapshot_; }

  void write(inspect::Text& out, const Finding& finding) {
    if (!images_) {
      images_.emplace(&arena_);
      (void)images_->readMaps(getpid());  // without, addresses have no names
    }
    if (finding.worker != inspect::kNone) {
      process_.completeLetters(snapshot_.workers[finding.worker]);
    }
    inspect::ImageNames names(*images_, &arena_);
    writeFinding(out, finding, needsBacktraces(finding) ? withBacktraces(finding) : snapshot_, names);
  }

 private:
  // A snapshot lacks the cycle if a member runs between two waits with a time limit. The next may have it.
  const inspect::Snapshot& withBacktraces(const Finding& finding) {
    constexpr int kMostTries = 10;
    inspect::Unwinder unwinder(*images_, &arena_);
    for (int i = 0; i < kMostTries && (!full_ || !hasBacktraces(*full_, finding)); ++i) {
      full_.emplace(&arena_);
      process_.read(*full_, &unwinder);
    }
    return *full_;
  }

  const OwnProcess& process_;
  inspect::Arena arena_;
  inspect::Snapshot snapshot_{&arena_};
  std::optional<inspect::Images> images_;
  std::optional<inspect::Snapshot> full_;
};

}  // namespace

class WatchdogThread {
 public:
  explicit WatchdogThread(const Watchdog::Config& config)
      : handler_(checked(config).handler),
        period_(periodFor(config)),
        rules_({config.longestTask, config.longestDelay, config.longestStandstill, 2 * period_},
               &isNobodyLeft, &arena_) {
    watchForks();
    const int error = pthread_create(
        &thread_, nullptr,
        [](void* self) -> void* {
          static_cast<WatchdogThread*>(self)->run();
          return nullptr;
        },
        this);
    if (error != 0) {
      releaseParker(parker_);
      throw std::system_error(error, std::generic_category(),
                              "weft::Watchdog: the system refuses a thread. "
                              "Raise the limit on threads (ulimit -u, the cgroup's pids.max)");
    }
  }

  // In a child of fork(), the thread does not exist.
  bool isOfThisProcess() const { return processId_ == getpid(); }

  ~WatchdogThread() {
    WEFT_ASSERT(pthread_equal(thread_, pthread_self()) == 0,
                "~Watchdog() was called by the watchdog's own handler, for which it would wait. "
                "Have another thread destroy it.");
    parker_->unpark();
    pthread_join(thread_, nullptr);
    releaseParker(parker_);
  }
  WatchdogThread(const WatchdogThread&) = delete;
  WatchdogThread& operator=(const WatchdogThread&) = delete;

 private:
  void run() {
    // The program's own threads get its signals.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    pthread_setname_np(pthread_self(), "weft:watchdog");
    const OwnProcess process;
    if (!process.isReadable()) {
      WEFT_WARN("the watchdog sees nothing: the system does not let the process read its own memory.");
      return;
    }
    // The only permit is the destructor's.
    while (!parker_->parkUntil(TimePoint::clock::now() + (rules_.wantsLookSoon() ? soon() : period_))) {
      look(process);
    }
  }

  nanoseconds soon() const { return std::min(period_, kSoon); }

  void look(const OwnProcess& process) {
    try {
      Look look(process);
      for (const Finding& finding :
           rules_.look(look.snapshot(), TimePoint::clock::now().time_since_epoch())) {
        tell(look, finding);
      }
    } catch (const std::bad_alloc&) {
      // The next look may have memory.
    }
  }

  void tell(Look& look, const Finding& finding) {
    char path[PATH_MAX];
    const bool isWritten = dumpTraceOfFinding(path);
    const auto write = [&](inspect::Text& out) {
      look.write(out, finding);
      if (isWritten) {
        out << "weft: watchdog: the events of the flight recorder are in " << path << '\n';
      }
    };
    if (!handler_) {
      inspect::Text out(&toStderr, nullptr);
      write(out);
      return;
    }
    Watchdog::Report report{finding.condition, finding.duration, {}};
    {
      inspect::Text out(&inspect::appendTo, &report.text);
      write(out);
    }
    struct Call {
      const Watchdog::Handler& handler;
      const Watchdog::Report& report;
    } call{handler_, report};
    callOrDie(
        [](void* argument) {
          const Call& called = *static_cast<const Call*>(argument);
          called.handler(called.report);
        },
        &call, "the handler of a weft::Watchdog");
    assertReturnsInParent("The handler of a weft::Watchdog");
  }

  const Watchdog::Handler handler_;
  const nanoseconds period_;
  const int processId_ = getpid();
  inspect::Arena arena_;  // what the rules remember; it grows no further once they have seen the most workers
  WatchdogRules rules_;
  Parker<>* const parker_ = acquireParker();
  pthread_t thread_{};
};

namespace {

void obeyVariable(const char* wish) {
  constexpr long kMostMilliseconds = 1'000'000'000;
  char* end = nullptr;
  const long milliseconds = std::strtol(wish, &end, 10);
  if (*end != '\0' || milliseconds <= 0 || milliseconds > kMostMilliseconds) {
    WEFT_WARN("WEFT_WATCHDOG=%s is no number of milliseconds. Write 1000, for example.", wish);
    return;
  }
  const std::chrono::milliseconds time(milliseconds);
  keepLoaded();
  try {
    // Until the process ends.
    static auto* const watchdog = new Watchdog(Watchdog::Config().setLongestTask(time).setLongestDelay(time));
    (void)watchdog;
  } catch (const std::exception& error) {
    WEFT_WARN("WEFT_WATCHDOG=%s: there is no watchdog: %s.", wish, error.what());
  }
}

}  // namespace

void obeyWatchdogVariable() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* const wish = environmentVariable("WEFT_WATCHDOG");
    if (wish != nullptr) {
      obeyVariable(wish);
    }
  });
}

}  // namespace detail

Watchdog::Config& Watchdog::Config::setLongestTask(std::chrono::nanoseconds time) {
  longestTask = time;
  return *this;
}

Watchdog::Config& Watchdog::Config::setLongestDelay(std::chrono::nanoseconds time) {
  longestDelay = time;
  return *this;
}

Watchdog::Config& Watchdog::Config::setLongestStandstill(std::chrono::nanoseconds time) {
  longestStandstill = time;
  return *this;
}

Watchdog::Config& Watchdog::Config::setHandler(Handler function) {
  handler = std::move(function);
  return *this;
}

Watchdog::Watchdog() : Watchdog(Config()) {}

Watchdog::Watchdog(const Config& config) : thread_(std::make_unique<detail::WatchdogThread>(config)) {}

Watchdog::~Watchdog() {
  if (!thread_->isOfThisProcess()) {
    (void)thread_.release();
  }
}

}  // namespace weft::inline v0_1
