// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/report/report.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <typeinfo>

#include "os/watched_call.h"
#include "scheduler/core/scheduler_core.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/worker/worker.h"
#include "weft/debug.h"
#include "weft/detail/fair/task.h"
#include "weft/mutex.h"
#include "weft/sharedmutex.h"

namespace weft::inline v0_1::detail {

// A value that is read while the holder goes on is a hint. It is compared, never followed: the holder may
// have ended.
struct OwnerAccess {
  static const void* ownerOf(const char* what, const void* object) {
    const std::string_view name(what);
    // A RecursiveMutex begins with the mutex on which it stands.
    if (name == "mutex" || name == "RecursiveMutex") {
      // relaxed: see above.
      return static_cast<const mutex*>(object)->owner_.load(std::memory_order_relaxed);
    }
    if (name == "SharedMutex") {
      // relaxed: see above.
      return static_cast<const SharedMutex*>(object)->owner_.load(std::memory_order_relaxed);
    }
    return nullptr;
  }
};

namespace {

// The name of the function at `address`, as far as the dynamic linker knows it.
struct Symbol {
  explicit Symbol(const void* address) {
    Dl_info info{};
    if (dladdr(address, &info) == 0) {
      std::snprintf(text, sizeof text, "%p", address);
    } else if (info.dli_sname == nullptr) {
      std::snprintf(
          text, sizeof text, "%s+0x%zx", info.dli_fname,
          static_cast<size_t>(static_cast<const char*>(address) - static_cast<char*>(info.dli_fbase)));
    } else {
      int status = 0;
      char* name = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
      std::snprintf(text, sizeof text, "%s", name != nullptr ? name : info.dli_sname);
      std::free(name);
    }
  }
  char text[256];
};

struct WorkerName {
  explicit WorkerName(int workerId) {
    if (workerId == kBoundThread) {
      std::snprintf(text, sizeof text, "a bound thread");
    } else {
      std::snprintf(text, sizeof text, "worker %d", workerId);
    }
  }
  char text[32];
};

// What a fiber waits for: its kind, and which one it is. Where it waits for I/O, that is a descriptor.
struct WaitedFor {
  explicit WaitedFor(const FiberControlBlock& waiter) {
    const char* const what = waiter.blockedOn;
    if (std::string_view(what).starts_with("io::")) {
      std::snprintf(text, sizeof text, "%s, fd %d", what,
                    static_cast<int>(reinterpret_cast<intptr_t>(waiter.blockedObject)));
    } else {
      std::snprintf(text, sizeof text, "%s %p", what, waiter.blockedObject);
    }
  }
  char text[96];
};

// The holder of the lock that a fiber waits for. Empty where the fiber waits for something else, and where
// nobody holds the lock.
struct Holder {
  explicit Holder(const FiberControlBlock& waiter) {
    const void* owner = OwnerAccess::ownerOf(waiter.blockedOn, waiter.blockedObject);
    TaskPlace place;
    if (owner == nullptr) {
      return;
    }
    if (!waiter.worker->core().findTask(owner, place)) {
      std::snprintf(text, sizeof text, ", held by a thread or a fiber that is not of this scheduler");
    } else if (place.task != nullptr) {
      std::snprintf(text, sizeof text, ", held by %s, fiber %u, task %s", WorkerName(place.workerId).text,
                    place.fiberId, Symbol(place.task).text);
    } else if (place.isOnThread) {
      std::snprintf(text, sizeof text, ", held by the code of %s, outside of tasks",
                    WorkerName(place.workerId).text);
    } else {
      std::snprintf(text, sizeof text,
                    ", held by a task of %s, fiber %u, that has ended without unlocking it",
                    WorkerName(place.workerId).text, place.fiberId);
    }
  }
  char text[384] = "";
};

// The type, the message and the place of the C++ exception that is being handled; or what `other` says.
struct Escaped {
  Escaped(const char* what, const char* other) {
    if (other != nullptr) {
      std::snprintf(text, sizeof text, "%s", other);
      return;
    }
    const std::type_info* type = abi::__cxa_current_exception_type();
    int status = 0;
    char* name = type != nullptr ? abi::__cxa_demangle(type->name(), nullptr, nullptr, &status) : nullptr;
    const void* const place = findThrow();
    std::snprintf(text, sizeof text, "%s%s%.512s%s%s", name != nullptr ? name : "of an unknown type",
                  what != nullptr ? ": " : "", what != nullptr ? what : "",
                  place != nullptr ? ", thrown at " : "", place != nullptr ? Symbol(place).text : "");
    std::free(name);
  }
  char text[1024];
};

// What a worker that does not answer keeps waiting.
struct KeptWaiting {
  explicit KeptWaiting(uint64_t numInIo) {
    if (numInIo != 0) {
      std::snprintf(text, sizeof text,
                    ". Meanwhile it does not look after I/O, for which %llu of its fibers wait",
                    static_cast<unsigned long long>(numInIo));
    }
  }
  char text[128] = "";
};

// Calls report(Escaped), for the C++ exception that is being handled, or for what `other` names. The stack of
// a throw may be small: the second throw has ended before anything is printed.
template <class Report>
void reportCurrent(const Report& report, const char* other) {
  const char* what = nullptr;
  if (other == nullptr) {
    try {
      throw;
    } catch (const std::exception& exception) {
      what = exception.what();
    } catch (const char* message) {
      what = message;
    } catch (...) {
    }
  }
  report(Escaped(what, other));
}

// The fiber and the task that the caller is part of. Empty outside of tasks.
struct OfTask {
  OfTask() {
    if (const auto* fiber = static_cast<const FiberControlBlock*>(currentFiber)) {
      std::snprintf(text, sizeof text, ", on fiber %u, task %s", fiber->id, Symbol(fiber->task.get()).text);
    }
  }
  char text[320] = "";
};

// Calls f(), and report(Escaped), which does not return, if an exception would escape it.
template <class F, class Report>
void callOrReport(F f, Report report) {
  struct Reporting : Watch {
    const Report* report;
  } const watch{{[](const Watch* self, const char* other) {
                  reportCurrent(*static_cast<const Reporting*>(self)->report, other);
                }},
                &report};
  callWatched(f, watch);
}

}  // namespace

const Watch taskWatch = {[](const Watch*, const char* other) {
  reportCurrent(
      [](const Escaped& escaped) {
        WEFT_FATAL(
            "an exception escaped from a task: %s%s. "
            "Catch it inside the task, and hand errors on as values.",
            escaped.text, OfTask().text);
      },
      other);
}};

std::string describe(EscapedException& exception) {
  std::string text;
  try {
    exception.rethrow();
  } catch (...) {
    reportCurrent([&text](const Escaped& escaped) { text = escaped.text; }, nullptr);
  }
  return text;
}

void runOrDie(const Scheduler::ThreadInitializer& function, const char* name, int workerId) {
  callOrReport(
      [&] { function(workerId); },
      [&](const Escaped& escaped) {
        WEFT_FATAL(
            "an exception escaped from the %s of worker thread %d (Config::setWorkerThread%c%s): %s. "
            "Catch it inside the %s.",
            name, workerId, name[0] - 'a' + 'A', name + 1, escaped.text, name);
      });
}

void callOrDie(void (*call)(void*), void* argument, const char* what) {
  callOrReport([call, argument] { call(argument); },
               [what](const Escaped& escaped) {
                 WEFT_FATAL("an exception escaped from %s: %s%s. Catch it inside.", what, escaped.text,
                            OfTask().text);
               });
}

void runOrDie(const std::function<void()>& function, const char* what) {
  callOrDie([](void* called) { (*static_cast<const std::function<void()>*>(called))(); },
            const_cast<std::function<void()>*>(&function), what);
}

Allocation allocateOrDie(Allocator& allocator, const Allocation::Request& request, const char* owner) {
  Allocation allocation;
  callOrReport([&] { allocation = allocator.allocate(request); },
               [&](const Escaped& escaped) {
                 WEFT_FATAL(
                     "%s::Config::allocator threw when it was asked for %zu bytes: %s. "
                     "A scheduler cannot go on without memory: "
                     "its allocator must return memory or end the program, as Allocator::Default does.",
                     owner, request.size, escaped.text);
               });
  WEFT_ASSERT(allocation.ptr != nullptr,
              "%s::Config::allocator returned null when it was asked for %zu bytes. "
              "A scheduler cannot go on without memory: "
              "its allocator must return memory or end the program, as Allocator::Default does.",
              owner, request.size);
  return allocation;
}

void freeOrDie(Allocator& allocator, const Allocation& allocation, const char* owner) noexcept {
  callOrReport([&] { allocator.free(allocation); },
               [owner](const Escaped& escaped) {
                 WEFT_FATAL(
                     "%s::Config::allocator threw when it was given memory back: %s. Catch it inside free().",
                     owner, escaped.text);
               });
}

void runStepOrDie(FairTask& task) {
  callOrReport([&task] { task.ops->run(task); },
               [](const Escaped& escaped) {
                 WEFT_FATAL(
                     "an exception escaped from a step of a fair::Task: %s. "
                     "Catch it inside the step, and hand errors on as values.",
                     escaped.text);
               });
}

void reportBlockedFiber(const FiberControlBlock& fiber, int workerId) {
  const void* task = fiber.task.get();
  const WaitedFor waited(fiber);
  const Holder holder(fiber);
  if (task == nullptr) {
    WEFT_WARN("the code of the bound thread, outside of tasks, waits for %s%s", waited.text, holder.text);
  } else {
    WEFT_WARN("%s, fiber %u, task %s, waits for %s%s", WorkerName(workerId).text, fiber.id, Symbol(task).text,
              waited.text, holder.text);
  }
}

void reportSilentWorker(const SilentWorker& worker) {
  const auto since =
      static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(worker.since).count());
  const TaskPlace& place = worker.place;
  const KeptWaiting kept(worker.numInIo);
  if (place.task != nullptr) {
    WEFT_WARN(
        "%s does not answer: it is in task %s, on fiber %u, for %lld ms at least, "
        "and has neither waited nor ended since%s",
        WorkerName(place.workerId).text, Symbol(place.task).text, place.fiberId, since, kept.text);
  } else {
    WEFT_WARN("%s does not answer: it is in %s, outside of tasks, for %lld ms at least%s",
              WorkerName(place.workerId).text,
              place.workerId == kBoundThread ? "its own code" : "its initializer or on its way", since,
              kept.text);
  }
}

void reportNumBlocked(int workerId, uint64_t count) {
  WEFT_WARN("%s has %llu fibers that wait", WorkerName(workerId).text,
            static_cast<unsigned long long>(count));
}

bool isOnlyThreadOfProcess() {
  struct stat status{};
  // The directory has one subdirectory a thread, and two links for "." and "..".
  return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;
}

}  // namespace weft::inline v0_1::detail
