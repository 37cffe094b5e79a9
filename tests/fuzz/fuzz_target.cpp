// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <weft/blockingcall.h>
#include <weft/memory.h>

#include "program.h"
#include "world.h"

// Runs the program of an input. Whatever ends the process, the program is printed, with the operation at
// which each script is.
namespace weft::fuzz {
namespace {

std::atomic<uint64_t> numRuns{0};
std::atomic<const Program*> running{nullptr};
std::atomic<const World*> runningWorld{nullptr};

void printRunning() {
  const Program* program = running.exchange(nullptr);
  if (program == nullptr) {
    return;
  }
  const World* world = runningWorld;
  const auto at = world != nullptr ? world->positions() : std::vector<size_t>();
  std::fputs(toString(*program, at).c_str(), stderr);
}

// Ends the process where a program does not end.
void watch(std::chrono::seconds limit) {
  uint64_t number = 0;
  auto since = std::chrono::steady_clock::now();
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto now = std::chrono::steady_clock::now();
    if (running == nullptr || numRuns != number) {
      number = numRuns;
      since = now;
    } else if (now - since > limit) {
      std::fprintf(stderr, "fuzz: a program hangs\n");
      if (const World* world = runningWorld) {
        world->reportBlockedFibers();
      }
      printRunning();
      std::abort();
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

void beginWatching() {
  struct sigaction handler{};
  handler.sa_sigaction = onAbort;
  handler.sa_flags = SA_SIGINFO;
  sigaction(SIGABRT, &handler, &previousHandler);
  const char* seconds = std::getenv("WEFT_FUZZ_HANG_SECONDS");
  std::thread(watch, std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 60)).detach();
}

// Starts all threads that outlive the program that needs them, before any thread has ended. LeakSanitizer
// does not know a thread with the number of one that has ended (docs/reliability.md).
void startBlockingThreads() {
  BlockingThreads::setIdleTime(std::chrono::hours(24));
  std::latch allRun(kMaxScripts);
  std::vector<std::thread> callers;
  for (size_t i = 0; i < kMaxScripts; ++i) {
    callers.emplace_back([&allRun] { blocking_call([&allRun] { allRun.arrive_and_wait(); }); });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
}

void begin() {
  beginWatching();
  startBlockingThreads();
}

}  // namespace

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

static void run(const Program& program) {
  TrackedAllocator allocator(Allocator::Default);
  ++numRuns;
  running = &program;
  {
    World world(program, &allocator);
    runningWorld = &world;
    world.run();
    runningWorld = nullptr;
    world.verify();
  }
  const auto stats = allocator.stats();
  check(stats.numAllocations() == 0, "%zu allocations were leaked", stats.numAllocations());
  running = nullptr;
}

}  // namespace weft::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  [[maybe_unused]] static const bool hasBegun = (weft::fuzz::begin(), true);
  static const bool prints = std::getenv("WEFT_FUZZ_PRINT") != nullptr;
  const weft::fuzz::Program program = weft::fuzz::decode(data, size);
  if (prints) {
    std::fputs(toString(program).c_str(), stderr);
  }
  weft::fuzz::run(program);
  return 0;
}

// Errors end with abort(), so that the program is printed.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:handle_abort=0:detect_stack_use_after_return=1";
}
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }
extern "C" const char* __tsan_default_options() { return "abort_on_error=1:halt_on_error=1"; }
