// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#if !defined(TracyFiberEnter) && __has_include(<tracy/Tracy.hpp>)
#include <tracy/Tracy.hpp>
#endif

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "weft/fiberhooks.h"

// Tells the profiler Tracy which task a thread runs, so that its zones may last over waits. The program is
// compiled with TRACY_ENABLE and TRACY_FIBERS, and so is Tracy's client. docs/tracing.md says more.
namespace weft::inline v0_1 {

namespace detail {

// The lines of one thread's fibers in Tracy's view. Tracy tells lines by the address of their name, which
// must live as long as the process.
class TracyLines {
 public:
  // Returns: the name of the line of the task that `run` tells of. A task keeps its line until it ends.
  const char* nameOf(const FiberHooks::Run& run) {
    Current& current = current_[run.fiber];
    if (current.task != run.task || current.name == nullptr) {
      current = {run.task, named(run)};
    }
    return current.name;
  }

  // Returns: those of the calling thread.
  static TracyLines& own() {
// Its destructor runs at the end of the thread, as it should.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wexit-time-destructors"
#endif
    thread_local const Loan loan;
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
    return loan.lines;
  }

 private:
  struct Current {
    uint64_t task = 0;
    const char* name = nullptr;
  };

  // Threads take over the lines of threads that have ended: otherwise the names of threads that come and go
  // would take more and more memory.
  struct Spares {
    std::mutex mutex;
    TracyLines* first = nullptr;

    static Spares& get() {
      static Spares& spares = *new Spares;  // never destroyed: threads may end late
      return spares;
    }
  };
  struct Loan {
    Loan() : lines(take()) {}
    ~Loan() {
      Spares& spares = Spares::get();
      const std::lock_guard<std::mutex> guard(spares.mutex);
      lines.next_ = spares.first;
      spares.first = &lines;
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    static TracyLines& take() {
      Spares& spares = Spares::get();
      const std::lock_guard<std::mutex> guard(spares.mutex);
      TracyLines* const spare = spares.first;
      if (spare == nullptr) {
        return *new TracyLines;
      }
      spares.first = spare->next_;
      return *spare;
    }

    TracyLines& lines;
  };

  // The name of the task's function, without the place of its code, and a number.
  const char* named(const FiberHooks::Run& run) {
    std::string& text = names_[run.fiber][run.code];
    if (text.empty()) {
      static std::atomic<unsigned> numLines{0};
      text = taskName(run.code);
      if (const size_t place = text.rfind(" ("); place != 0 && place != std::string::npos) {
        text.resize(place);
      }
      // relaxed: it need only be unique.
      text += " #" + std::to_string(numLines.fetch_add(1, std::memory_order_relaxed) + 1);
    }
    return text.c_str();
  }

  std::unordered_map<uint32_t, Current> current_;                                     // by fiber
  std::unordered_map<uint32_t, std::unordered_map<const void*, std::string>> names_;  // by fiber and code
  TracyLines* next_ = nullptr;
};

}  // namespace detail

#if defined(TracyFiberEnter) || defined(WEFT_DOCS)
// Sets the hooks of fiberhooks.h, so that each task has a line in Tracy's view from its begin to its end,
// which is called like the task's function. A task that begins later on that fiber, with that function, gets
// that line again. Zones, messages and locks of a task appear there, and those of a bound thread's own code
// on the line of the thread.
//
//   weft::showFibersInTracy();
//
// Without TRACY_ENABLE it does nothing, as all of Tracy. With TRACY_ENABLE and without TRACY_FIBERS, or
// without Tracy's header, a call does not compile.
// Lifetime: until setFiberHooks() sets others. Those that were set before are no longer called.
inline void showFibersInTracy() noexcept {
#if defined(TRACY_ENABLE)
  static constexpr FiberHooks hooks = {
      .entered =
          [](const FiberHooks::Run& run) noexcept { TracyFiberEnter(detail::TracyLines::own().nameOf(run)); },
      .left = [](const FiberHooks::Run&) noexcept { TracyFiberLeave; }};
  setFiberHooks(&hooks);
#endif
}
#else
template <class Program = void>
void showFibersInTracy() noexcept {
  static_assert(
      sizeof(Program*) == 0,
      "weft/tracy.h: Tracy's fibers are missing. Put tracy/Tracy.hpp on the include path, and define "
      "TRACY_ENABLE and TRACY_FIBERS for the program and for Tracy's client.");
}
#endif

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
