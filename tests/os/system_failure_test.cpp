// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <ostream>
#include <string>

#include <weft/blockingcall.h>
#include <weft/channel.h>
#include <weft/event.h>
#include <weft/fair/task_scheduler.h>
#include <weft/finally.h>
#include <weft/future.h>
#include <weft/memory.h>
#include <weft/mutex.h>
#include <weft/sanitizers.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/thread.h>
#include <weft/waitgroup.h>

#include "children.h"
#include "next_function.h"
#include "with_scheduler.h"

// What comes of a call of the system that fails: for each call that a use of the library makes, one at a
// time, and together with all later ones. Sanitizers have such calls of their own.
#if WEFT_ADDRESS_SANITIZER_ENABLED == 0 && WEFT_THREAD_SANITIZER_ENABLED == 0 && \
    WEFT_MEMORY_SANITIZER_ENABLED == 0

namespace weft::tests {
namespace {

enum class Call { Map, Unmap, Protect, Advise, CreateThread, Allocate, Membarrier, Futex };

struct Failure {
  Call call;
  int from;       // the calls before it go well; counted from 0
  bool areMany;   // whether all later calls fail too
  int error = 0;  // what they set errno to, or return; 0: they return at once, as if all were well
};

// constinit: the C library may call before main().
constinit std::atomic<bool> isOn{false};
constinit std::atomic<int> numCalls{0};
constinit Failure failure{};

// Returns: whether this call is to fail. Sets errno.
bool fails(Call call) {
  if (!isOn.load(std::memory_order_relaxed) || call != failure.call) {
    return false;
  }
  const int number = numCalls.fetch_add(1, std::memory_order_relaxed);
  errno = failure.error;
  return number == failure.from || (failure.areMany && number > failure.from);
}

// A wait whose deadline has come ends by that.
bool hasCome(const timespec* deadline) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return deadline != nullptr &&
         (now.tv_sec != deadline->tv_sec ? now.tv_sec > deadline->tv_sec : now.tv_nsec >= deadline->tv_nsec);
}

}  // namespace
}  // namespace weft::tests

// Instead of the C library's.
extern "C" {

void* __libc_malloc(size_t size) noexcept;
void* __libc_memalign(size_t alignment, size_t size) noexcept;

void* malloc(size_t size) noexcept {
  return weft::tests::fails(weft::tests::Call::Allocate) ? nullptr : __libc_malloc(size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return weft::tests::fails(weft::tests::Call::Allocate) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  *memory = aligned_alloc(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  static const auto real = weft::tests::nextFunction<decltype(mmap)>("mmap");
  return weft::tests::fails(weft::tests::Call::Map) ? MAP_FAILED
                                                    : real(address, size, protection, flags, file, offset);
}

int munmap(void* address, size_t size) noexcept {
  static const auto real = weft::tests::nextFunction<decltype(munmap)>("munmap");
  return weft::tests::fails(weft::tests::Call::Unmap) ? -1 : real(address, size);
}

int mprotect(void* address, size_t size, int protection) noexcept {
  static const auto real = weft::tests::nextFunction<decltype(mprotect)>("mprotect");
  return weft::tests::fails(weft::tests::Call::Protect) ? -1 : real(address, size, protection);
}

int madvise(void* address, size_t size, int advice) noexcept {
  static const auto real = weft::tests::nextFunction<decltype(madvise)>("madvise");
  return weft::tests::fails(weft::tests::Call::Advise) ? -1 : real(address, size, advice);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*),
                   void* argument) noexcept {
  static const auto real = weft::tests::nextFunction<decltype(pthread_create)>("pthread_create");
  return weft::tests::fails(weft::tests::Call::CreateThread) ? weft::tests::failure.error
                                                             : real(thread, attributes, entry, argument);
}

long syscall(long number, ...) noexcept {
  using weft::tests::Call, weft::tests::fails;
  // Not static: the guard of a static variable makes system calls, with libc++.
  const auto real = weft::tests::nextFunction<decltype(syscall)>("syscall");
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (long& argument : arguments) {
    argument = va_arg(list, long);
  }
  va_end(list);
  const bool isWait = number == SYS_futex && (arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET &&
                      !weft::tests::hasCome(reinterpret_cast<const timespec*>(arguments[3]));
  if ((number == SYS_membarrier && fails(Call::Membarrier)) || (isWait && fails(Call::Futex)) ||
      (number == SYS_process_madvise && fails(Call::Advise))) {
    return weft::tests::failure.error == 0 ? 0 : -1;
  }
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

}  // extern "C"

namespace weft::tests {
namespace {

void check(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "wrong: %s\n", what);
    std::_Exit(3);
  }
}

// Has many fibers that are blocked at once, on stacks of their own.
void useScheduler() {
  constexpr unsigned kTasks = 300, kSleepers = 20;
  Scheduler scheduler(smallConfig(2));
  Scheduler::Binding bound(scheduler);
  const Event go(Event::Mode::Manual);
  // Tasks that wait are woken also where a call throws.
  const auto wakeAll = make_finally([=] { go.signal(); });
  const WaitGroup done(kTasks + kSleepers);
  std::atomic<unsigned> numRun{0};
  for (unsigned i = 0; i < kTasks; ++i) {
    const auto count = make_shared_finally([=] { done.done(); });
    schedule([&numRun, go, count] {
      go.wait();
      ++numRun;
    });
  }
  for (unsigned i = 0; i < kSleepers; ++i) {
    const auto count = make_shared_finally([=] { done.done(); });
    schedule([&numRun, count] {
      sleep_for(std::chrono::microseconds(200));
      ++numRun;
    });
  }
  Channel<int> channel(4);
  check(async([] { return 1; }).get() == 1, "a future's value");
  TaskGroup group;
  group.run([&numRun] { ++numRun; });
  group.wait();
  check(blocking_call([] { return 2; }) == 2, "a blocking call's value");
  channel.send(3);
  check(channel.receive() == 3, "a channel's value");
  go.signal();
  done.wait();
  check(numRun == kTasks + kSleepers + 1, "each task has run once");
}

void useFair() {
  fair::TaskScheduler scheduler("fair", 2);
  std::atomic<int> numRun{0};
  for (int i = 0; i < 100; ++i) {
    scheduler.postOneShot([&numRun] { ++numRun; });
  }
  fair::Task late([&numRun] { ++numRun; });
  scheduler.postDelay(&late, std::chrono::microseconds(200));
  scheduler.waitEmpty();
  check(numRun == 101, "each fair task has run once");
}

constexpr int kWasNotReached = 10, kWentWell = 11, kHasThrown = 12;

// Ends the process with one of these. After an exception all must go well again.
[[noreturn]] void useWith(Failure wanted, void (*use)()) {
  tests::endWithTheTest();
  failure = wanted;
  isOn = true;
  int result = kWentWell;
  try {
    use();
  } catch (const std::exception& error) {
    result = kHasThrown;
  }
  isOn = false;
  if (result == kHasThrown) {
    use();
  }
  std::_Exit(numCalls <= wanted.from ? kWasNotReached : result);
}

// Returns: how a process ends in which that call fails.
int statusWith(Failure wanted, void (*use)(), std::string& messages) {
  int ends[2];
  if (pipe(ends) != 0) {
    return -1;
  }
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    useWith(wanted, use);
  }
  close(ends[1]);
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    messages.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

struct Case {
  const char* name;
  Call call;
  int error;
  bool isFatal;  // whether the program may end, with a message
  bool isSeen;   // whether a use makes such calls at all, on any system
};

std::ostream& operator<<(std::ostream& stream, const Case& value) { return stream << value.name; }

class SystemFailureTest : public ::testing::TestWithParam<Case> {
 protected:
  // Lets each call fail that `use` makes.
  static void failEach(void (*use)(), bool areMany) {
    const Case& param = GetParam();
    for (int from = 0;; from += from / 40 + 1) {
      std::string messages;
      const int status = statusWith({param.call, from, areMany, param.error}, use, messages);
      const bool hasEnded = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
                            messages.find("weft: fatal: ") != std::string::npos;
      const int result = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      if (result == kWasNotReached) {
        EXPECT_TRUE(from > 0 || !param.isSeen) << "no such call is made";
        return;
      }
      ASSERT_TRUE(result == kWentWell || (param.isFatal && (result == kHasThrown || hasEnded)))
          << "at call " << from << (areMany ? " and all later ones" : "") << ": status " << status << "\n"
          << messages;
    }
  }
};

TEST_P(SystemFailureTest, OneInAScheduler) { failEach(&useScheduler, false); }
TEST_P(SystemFailureTest, AllFromOneOnInAScheduler) { failEach(&useScheduler, true); }
TEST_P(SystemFailureTest, OneInAFairScheduler) { failEach(&useFair, false); }
TEST_P(SystemFailureTest, AllFromOneOnInAFairScheduler) { failEach(&useFair, true); }

INSTANTIATE_TEST_SUITE_P(Calls, SystemFailureTest,
                         ::testing::Values(Case{"mmap", Call::Map, ENOMEM, true, false},
                                           Case{"munmap", Call::Unmap, ENOMEM, false, false},
                                           Case{"mprotect", Call::Protect, ENOMEM, true, false},
                                           Case{"madvise", Call::Advise, EINVAL, false, false},
                                           Case{"pthread_create", Call::CreateThread, EAGAIN, true, true},
                                           Case{"malloc", Call::Allocate, ENOMEM, true, true},
                                           Case{"membarrier", Call::Membarrier, EPERM, true, false},
                                           Case{"futex_EINTR", Call::Futex, EINTR, false, false},
                                           Case{"futex_EAGAIN", Call::Futex, EAGAIN, false, false},
                                           Case{"futex_spurious", Call::Futex, 0, false, false}),
                         [](const auto& param) { return std::string(param.param.name); });

// Lets all such calls fail from now on.
void failAll(Call call, int error) {
  failure = {call, 0, true, error};
  isOn = true;
}

TEST(SystemFailureDeathTest, MemoryThatCannotBeMadeWritableIsReported) {
  EXPECT_DEATH(
      {
        failAll(Call::Protect, ENOMEM);
        (void)Allocator::Default->allocate({.size = 100, .useGuards = true});
      },
      "weft: fatal: out of memory: the system has no 100 bytes with guard pages");
}

TEST(SystemFailureDeathTest, AThreadThatCannotBeStartedIsReported) {
  EXPECT_DEATH(
      {
        failAll(Call::CreateThread, EAGAIN);
        const Thread thread(Thread::Affinity(), [] {});
      },
      "weft: fatal: Thread: the system starts no thread .*ulimit");
}

}  // namespace
}  // namespace weft::tests

#else

TEST(SystemFailureTest, OneInAScheduler) { GTEST_SKIP() << "a sanitizer makes these calls itself"; }

#endif
