// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "report.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <typeinfo>

#include "fiber_block.h"
#include "weft/debug.h"
#include "weft/detail/fair_task.h"

namespace weft::detail {
namespace {

// The name of the function at `address`, as far as the dynamic linker knows it.
struct Symbol {
  explicit Symbol(const void* address) {
    Dl_info info{};
    if (dladdr(address, &info) == 0) {
      std::snprintf(text, sizeof text, "%p", address);
    } else if (info.dli_sname == nullptr) {
      std::snprintf(text, sizeof text, "%s+0x%zx", info.dli_fname,
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

// The type of the exception that is being handled, and what it says.
struct Escaped {
  explicit Escaped(const char* what) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    int status = 0;
    char* name = type != nullptr ? abi::__cxa_demangle(type->name(), nullptr, nullptr, &status) : nullptr;
    std::snprintf(text, sizeof text, "%s%s%s", name != nullptr ? name : "of an unknown type", what != nullptr ? ": " : "",
                  what != nullptr ? what : "");
    std::free(name);
  }
  char text[1024];
};

// Calls f(), and report(Escaped) if an exception escapes it.
template <class F, class Report>
void callOrReport(F f, [[maybe_unused]] Report report) {
#if defined(__cpp_exceptions)
  try {
    f();
  } catch (const std::exception& exception) {
    report(Escaped(exception.what()));
  } catch (const char* message) {
    report(Escaped(message));
  } catch (...) {
    report(Escaped(nullptr));
  }
#else
  f();
#endif
}

}  // namespace

void runOrDie(TaskNode* node) {
  callOrReport([node] { node->invoke(node, TaskOp::Run); },
               [](const Escaped& escaped) {
                 const auto* fiber = static_cast<const FiberBlock*>(currentFiber);
                 WEFT_FATAL(
                     "an exception escaped from a task: %s, on fiber %u, task %s. Catch it inside the task, and hand errors on "
                     "as values.",
                     escaped.text, fiber->id, Symbol(fiber->task).text);
               });
}

std::string describe(EscapedException& exception) {
  std::string text;
  callOrReport([&exception] { exception.rethrow(); }, [&text](const Escaped& escaped) { text = escaped.text; });
  return text;
}

void runOrDie(const Scheduler::ThreadInitializer& function, const char* name, int workerId) {
  callOrReport([&] { function(workerId); },
               [&](const Escaped& escaped) {
                 WEFT_FATAL(
                     "an exception escaped from the %s of worker thread %d (Config::setWorkerThread%c%s): %s. "
                     "Catch it inside the %s.",
                     name, workerId, name[0] - 'a' + 'A', name + 1, escaped.text, name);
               });
}

void runOrDie(const std::function<void()>& function, const char* what) {
  callOrReport(function, [what](const Escaped& escaped) {
    WEFT_FATAL("an exception escaped from %s: %s. Catch it inside.", what, escaped.text);
  });
}

void runStepOrDie(FairTask& task) {
  callOrReport([&task] { task.ops->run(task); },
               [](const Escaped& escaped) {
                 WEFT_FATAL("an exception escaped from a step of a fair::Task: %s. Catch it inside the step, and hand errors on "
                            "as values.",
                            escaped.text);
               });
}

void reportBlockedFiber(const FiberBlock& fiber, int workerId) {
  if (fiber.task == nullptr) {
    WEFT_WARN("the code of the bound thread, outside of tasks, waits for %s %p", fiber.blockedOn, fiber.blockedObject);
  } else {
    WEFT_WARN("%s, fiber %u, task %s, waits for %s %p", WorkerName(workerId).text, fiber.id, Symbol(fiber.task).text,
              fiber.blockedOn, fiber.blockedObject);
  }
}

void reportNumBlocked(int workerId, uint64_t count) {
  WEFT_WARN("%s has %llu fibers that wait", WorkerName(workerId).text, static_cast<unsigned long long>(count));
}

bool isOnlyThreadOfProcess() {
  struct stat status {};
  // One directory a thread, and two for "." and "..".
  return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;
}

}  // namespace weft::detail
