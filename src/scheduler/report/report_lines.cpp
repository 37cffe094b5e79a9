// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/report/report_lines.h"

#include <cstdio>
#include <string_view>

#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/report/symbol.h"
#include "weft/debug.h"
#include "weft/mutex.h"
#include "weft/sharedmutex.h"

namespace weft::inline v0_1::detail {

// What is read while the holder goes on is a hint: compared, never followed, as the holder may be gone.
struct OwnerAccess {
  static const void* ownerOf(const char* what, const void* object) {
    const std::string_view name(what);
    // A RecursiveMutex begins with the mutex on which it stands.
    if (name == "mutex" || name == "RecursiveMutex") {
      // relaxed: a hint.
      return static_cast<const mutex*>(object)->owner_.load(std::memory_order_relaxed);
    }
    if (name == "SharedMutex") {
      // relaxed: a hint.
      return static_cast<const SharedMutex*>(object)->owner_.load(std::memory_order_relaxed);
    }
    return nullptr;
  }
};

namespace {

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

// The holder of the lock that a fiber waits for; empty if it waits for no lock, or nobody holds the lock.
struct Holder {
  Holder(const FiberControlBlock& waiter, TaskFinder& tasks) {
    const void* owner = OwnerAccess::ownerOf(waiter.blockedOn, waiter.blockedObject);
    TaskPlace place;
    if (owner == nullptr) {
      return;
    }
    if (!tasks.findTask(owner, place)) {
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

}  // namespace

void reportBlockedFiber(const FiberControlBlock& fiber, int workerId, TaskFinder& tasks) {
  const void* task = fiber.task.get();
  const WaitedFor waited(fiber);
  const Holder holder(fiber, tasks);
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

}  // namespace weft::inline v0_1::detail
