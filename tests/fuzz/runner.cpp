// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "runner.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <weft/memory.h>

#include "world.h"

namespace weft::fuzz {
namespace {

using std::chrono::steady_clock;

// A program that runs. Who takes a pointer out may use what it points to: the thread that runs the program
// ends it only after it has taken the pointer out itself.
struct Slot {
  std::atomic<const Program*> program{nullptr};  // null: the slot is free
  std::atomic<const World*> world{nullptr};
  std::atomic<uint64_t> numRuns{0};
};
std::array<Slot, kMaxRunning> slots;

Slot& claimSlot(const Program& program) {
  for (;;) {
    for (Slot& slot : slots) {
      const Program* expected = nullptr;
      if (slot.program.compare_exchange_strong(expected, &program)) {
        ++slot.numRuns;
        return slot;
      }
    }
  }
}

// Takes the pointer out. If somebody else has it, the process is about to end, which this waits for.
template <class T>
void takeOut(std::atomic<const T*>& pointer) {
  while (pointer.exchange(nullptr) == nullptr) {
    pause();
  }
}

void printRunning() {
  for (Slot& slot : slots) {
    if (const Program* program = slot.program.exchange(nullptr)) {
      const World* world = slot.world.exchange(nullptr);
      const auto at = world != nullptr ? world->positions() : std::vector<size_t>();
      std::fputs(toString(*program, at).c_str(), stderr);
    }
  }
}

void endHanging(Slot& slot) {
  std::fprintf(stderr, "fuzz: a program hangs\n");
  if (const World* world = slot.world.exchange(nullptr)) {
    world->reportBlockedFibers();
    slot.world = world;  // for printRunning()
  }
  printRunning();
  std::abort();
}

// Ends the process where a program does not end.
void watch(std::chrono::seconds limit) {
  struct Seen {
    uint64_t numRuns = 0;
    steady_clock::time_point since;
  };
  std::array<Seen, kMaxRunning> seen;
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto now = steady_clock::now();
    for (size_t i = 0; i < kMaxRunning; ++i) {
      const uint64_t numRuns = slots[i].numRuns;
      if (slots[i].program == nullptr || numRuns != seen[i].numRuns) {
        seen[i] = {.numRuns = numRuns, .since = now};
      } else if (now - seen[i].since > limit) {
        endHanging(slots[i]);
      }
    }
  }
}

struct sigaction previousHandler;

// For messages of weft, and of sanitizers, which end with abort().
void onAbort(int number, siginfo_t* info, void* context) {
  printRunning();
  if ((previousHandler.sa_flags & SA_SIGINFO) != 0 && previousHandler.sa_sigaction != nullptr) {
    previousHandler.sa_sigaction(number, info, context);
  }
}

}  // namespace

void beginWatching() {
  struct sigaction handler{};
  handler.sa_sigaction = onAbort;
  handler.sa_flags = SA_SIGINFO;
  sigaction(SIGABRT, &handler, &previousHandler);
  const char* seconds = std::getenv("WEFT_FUZZ_HANG_SECONDS");
  std::thread(watch, std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 60)).detach();
}

void check(bool condition, const char* format, ...) {
  if (condition) {
    return;
  }
  std::fputs("fuzz: ", stderr);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputs("\n", stderr);
  printRunning();
  std::abort();
}

void run(const Program& program, const SharedSchedulers* shared) {
  TrackedAllocator allocator(Allocator::Default);
  Slot& slot = claimSlot(program);
  {
    World world(program, &allocator, shared);
    slot.world = &world;
    world.run();
    world.verify();
    takeOut(slot.world);
  }
  const auto stats = allocator.stats();
  check(stats.numAllocations() == 0, "%zu allocations were leaked", stats.numAllocations());
  takeOut(slot.program);
}

}  // namespace weft::fuzz

// Errors end with abort(), so that the program is printed.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:handle_abort=0:detect_stack_use_after_return=1";
}
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }
extern "C" const char* __tsan_default_options() { return "abort_on_error=1:halt_on_error=1"; }
