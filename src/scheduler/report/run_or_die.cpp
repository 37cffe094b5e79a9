// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/report/run_or_die.h"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <typeinfo>

#include "os/watched_call.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/report/symbol.h"
#include "weft/debug.h"
#include "weft/detail/fair/task.h"

namespace weft::inline v0_1::detail {
namespace {

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
      std::snprintf(text, sizeof text, ", on fiber %u, task %s", fiber->id, Symbol(fiber->task).text);
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

}  // namespace weft::inline v0_1::detail
