// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Programs that tasks start by fork() and exec() while others run, and what a child of fork() may do without
// exec().

#include <gtest/gtest.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <utility>

#include <weft/blockingcall.h>
#include <weft/dump.h>
#include <weft/event.h>
#include <weft/executor.h>
#include <weft/fair/bridge.h>
#include <weft/future.h>
#include <weft/join.h>
#include <weft/mutex.h>
#include <weft/recursivemutex.h>
#include <weft/sanitizers.h>
#include <weft/scheduler.h>
#include <weft/sharedmutex.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/waitgroup.h>

#include "../children.h"
#include "../with_scheduler.h"
#include "../workloads.h"

namespace weft {
namespace {

using namespace std::chrono_literals;
using tests::scaled;
using tests::smallConfig;

using ForkExecTest = tests::WithAllocator;

// Returns: what the child ended with, or -1.
int awaitChild(pid_t child) {
  int status = -1;
  const bool isThere = weft::blocking_call([&] { return waitpid(child, &status, 0) == child; });
  return isThere && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int forkAndExec(const std::string& code) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit $0", code.c_str(), static_cast<char*>(nullptr));
    _exit(99);
  }
  return awaitChild(child);
}

int spawn(std::string code) {
  std::string name = "sh", option = "-c", command = "exit $0";
  char* const arguments[] = {name.data(), option.data(), command.data(), code.data(), nullptr};
  pid_t child = -1;
  return posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, nullptr) == 0 ? awaitChild(child) : -1;
}

TEST_F(ForkExecTest, ProgramsThatManyTasksStartEndAsTheyShould) {
  const int numTasks = scaled(24, 8);
  constexpr int kProgramsPerTask = 4;
  for (const int numWorkers : {0, 1, 4}) {
    Scheduler scheduler(smallConfig(numWorkers, allocator()));
    const Scheduler::Binding bound(scheduler);
    std::atomic<int> numRight{0};
    const WaitGroup done(static_cast<unsigned>(numTasks));
    for (int i = 0; i < numTasks; ++i) {
      schedule([&numRight, i, done] {
        for (int program = 0; program < kProgramsPerTask; ++program) {
          const int code = (7 * i + program) % 90;
          const std::string text = std::to_string(code);
          numRight += (program % 2 == 0 ? forkAndExec(text) : spawn(text)) == code ? 1 : 0;
        }
        done.done();
      });
      // The others, meanwhile.
      EXPECT_EQ(tests::fibInTask(8), 21u);
    }
    done.wait();
    EXPECT_EQ(numRight, numTasks * kProgramsPerTask);
  }
}

// A child of fork(), whose messages are read.
class Child {
 public:
  Child() { EXPECT_EQ(pipe(ends_), 0); }
  ~Child() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Returns: whether the caller is the child, which is to end early.
  bool begin() {
    child_ = fork();
    if (child_ == 0) {
      dup2(ends_[1], STDERR_FILENO);
      alarm(60);  // a child that hangs ends
    }
    return child_ == 0;
  }

  // Returns: what it has written.
  std::string said() {
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
    close(std::exchange(ends_[1], -1));
    std::string text;
    char buffer[4096];
    for (ssize_t length = 0; (length = read(ends_[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<size_t>(length));
    }
    return text;
  }

 private:
  int ends_[2] = {-1, -1};
  std::atomic<pid_t> child_{-1};
};

// Returns: what a child writes that forks in a task of a scheduler and then calls `goOn`, and ends early.
// `guard`: what the task holds.
template <class Guard>
std::string saidByChild(int numWorkers, void (*goOn)(), Guard guard) {
  Child child;
  Scheduler scheduler(smallConfig(numWorkers));
  const Scheduler::Binding bound(scheduler);
  const Event mayGoOn(Event::Mode::Manual);
  const WaitGroup done(3);
  schedule([=] {
    mayGoOn.wait();
    done.done();
  });
  schedule([&, done, goOn] {
    schedule([=] { done.done(); });
    {
      [[maybe_unused]] const auto held = guard();
      if (child.begin()) {
        goOn();
        return;
      }
    }
    done.done();
  });
  mayGoOn.signal();
  done.wait();
  return child.said();
}

void expectSays(const std::string& text, const char* part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

// Returns: what a child of fork() writes that calls `function`, which ends it.
template <class F>
std::string saidByChildThatCalls(F&& function) {
  Child child;
  if (child.begin()) {
    function();
    _exit(0);
  }
  return child.said();
}

// The child lacks the workers: without a check it would wait for them for ever.
TEST_F(ForkExecTest, CallsInAChildOfForkAreRefused) {
  for (const int numWorkers : {0, 2}) {
    auto scheduler = std::make_unique<Scheduler>(smallConfig(numWorkers, allocator()));
    scheduler->bind();
    const auto expectRefused = [](const char* what, auto&& function) {
      SCOPED_TRACE(what);
      expectSays(saidByChildThatCalls(function), "was called in a child of fork()");
    };
    expectRefused("schedule", [] { schedule([] {}); });
    expectRefused("wait", [] { Event().wait(); });
    expectRefused("unbind", [] { Scheduler::unbind(); });
    expectRefused("bind", [&] { scheduler->bind(); });
    expectRefused("enqueue", [&] { scheduler->enqueue(Task([] {})); });
    expectRefused("new scheduler", [] { Scheduler another(smallConfig(0)); });
    expectRefused("end of the scheduler", [&] { scheduler.reset(); });
    // The parent goes on, and a child of one of its tasks may call exec().
    WaitGroup done(1);
    int status = -1;
    schedule([&, done] {
      const pid_t child = fork();
      if (child == 0) {
        execl("/bin/true", "true", static_cast<char*>(nullptr));
        _exit(9);
      }
      waitpid(child, &status, 0);
      done.done();
    });
    done.wait();
    EXPECT_EQ(status, 0);
    Scheduler::unbind();
  }
}

// Who had nothing bound is told so in a child as well: to fork was not the first mistake.
TEST_F(ForkExecTest, AChildWhoseThreadWasNeverBoundIsToldThatFirst) {
  Scheduler scheduler(smallConfig(0, allocator()));
  const auto expectTold = [](const char* words, auto&& function) {
    const std::string text = saidByChildThatCalls(function);
    expectSays(text, words);
    EXPECT_EQ(text.find("fork()"), std::string::npos) << text;
  };
  expectTold("to which no scheduler is bound", [] { schedule([] {}); });
  expectTold("has no worker threads", [&] { scheduler.enqueue(Task([] {})); });
}

// Where nothing is bound, forked tasks are plain calls, which need nothing that the child lacks.
TEST_F(ForkExecTest, TasksThatAChildForksArePlainCalls) {
  Scheduler scheduler(smallConfig(2, allocator()));
  Scheduler::Binding bound(scheduler);
  join([] {}, [] {});  // from now on the thread has a deque
  const pid_t child = fork();
  if (child == 0) {
    tests::endWithTheTest();
    int numCalls = 0;
    TaskGroup group;
    for (int i = 0; i < 1'000; ++i) {
      group.run([&] { ++numCalls; });
    }
    group.wait();
    _exit(numCalls == 1'000 ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

// In a child of a process with threads, ThreadSanitizer calls no handler of a signal.
constexpr int kDumpsOfAChild = WEFT_THREAD_SANITIZER_ENABLED ? 1 : 2;

// Returns: what a child writes that gets a signal for a dump, and then calls weft::dump().
std::string dumpsOfAChild() {
  Child child;
  if (child.begin()) {
    raise(SIGUSR2);
    dump();
    // Before a call that never returns AddressSanitizer looks for the bounds of the stack, and may warn that
    // a fiber's are not those of the thread.
    raise(SIGABRT);
  }
  return child.said();
}

class ForkedDumpTest : public tests::WithAllocator {
 protected:
  ForkedDumpTest() {
    sigaction(SIGUSR2, nullptr, &before_);
    EXPECT_TRUE(dumpOnSignal(SIGUSR2));
  }
  ~ForkedDumpTest() override { sigaction(SIGUSR2, &before_, nullptr); }

 private:
  struct sigaction before_{};
};

TEST_F(ForkedDumpTest, SaysThatTheWorkersAreTheParents) {
  Scheduler scheduler(smallConfig(2, allocator()));
  const std::string line =
      "weft: no dump: process [0-9]+ is a child of fork\\(\\) that has not called exec\\(\\)[^\n]*\n";
  const std::regex lines("(" + line + "){" + std::to_string(kDumpsOfAChild) + "}");
  EXPECT_TRUE(std::regex_match(dumpsOfAChild(), lines));
  Event done;
  std::string inTask;
  scheduler.enqueue(Task([&, done] {
    inTask = dumpsOfAChild();
    done.signal();
  }));
  done.wait();
  EXPECT_TRUE(std::regex_match(inTask, lines)) << inTask;
}

// The thread for dumps is the parent's.
TEST_F(ForkedDumpTest, IsWholeWhereTheParentHadNoScheduler) {
  const std::string dump = "weft: process [0-9]+, [^\n]*: 0 schedulers[^\n]*\nweft: end of process [0-9]+\n";
  std::string text;
  std::thread([&text] { text = dumpsOfAChild(); }).join();  // forkFromNewestThread() says why
  EXPECT_TRUE(std::regex_match(text, std::regex("(" + dump + "){" + std::to_string(kDumpsOfAChild) + "}")))
      << text;
}

// With no scheduler at the time of the fork, a child may make its own.
TEST_F(ForkExecTest, AChildMayMakeTheFirstScheduler) {
  {
    Scheduler before(smallConfig(1, allocator()));
  }
  const pid_t child = tests::forkFromNewestThread([] {
    alarm(60);
    Scheduler scheduler(smallConfig(tests::kUnderTsan || tests::kUnderAsan ? 0 : 2));
    Scheduler::Binding bound(scheduler);
    WaitGroup done(1);
    schedule([done] { done.done(); });
    done.wait();
    return 7;
  });
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

// Otherwise it would go on as a worker, with tasks and fibers of the parent.
TEST_F(ForkExecTest, AChildThatReturnsFromItsTaskOrLetsOthersRunEnds) {
  for (const int numWorkers : {0, 1, 4}) {
    for (void (*goOn)() : {+[] {}, +[] { yield(); }, +[] { Event().wait(); }, +[] { sleep_for(1us); }}) {
      expectSays(saidByChild(numWorkers, goOn, [] { return 0; }), "in a child of fork()");
    }
  }
}

// It is not told that another task holds the lock.
TEST_F(ForkExecTest, AChildThatReturnsFromItsTaskWithALockIsToldOfTheFork) {
  mutex plain;
  SharedMutex shared;
  RecursiveMutex recursive;
  const auto returns = +[] {};
  for (const int numWorkers : {0, 1}) {
    for (const std::string& text :
         {saidByChild(numWorkers, returns, [&] { return std::unique_lock(plain); }),
          saidByChild(numWorkers, returns, [&] { return std::unique_lock(shared); }),
          saidByChild(numWorkers, returns, [&] { return std::unique_lock(recursive); })}) {
      expectSays(text, "unlock() was called in a child of fork()");
    }
  }
}

// It would be the last thread of a fair::TaskScheduler, and wait for steps.
TEST_F(ForkExecTest, AChildThatReturnsFromAFairStepEnds) {
  for (const int numThreads : {1, 2}) {
    Child returns;
    Child yields;
    fair::TaskScheduler scheduler("fair", numThreads);
    scheduler.postOneShot([&] { returns.begin(); });
    fair::async(scheduler,
                [](Child& child) -> fair::Coro<void> {
                  if (child.begin()) {
                    co_await fair::yield();
                    _exit(0);
                  }
                }(yields))
        .get();
    scheduler.waitEmpty();
    for (Child* child : {&returns, &yields}) {
      expectSays(child->said(), "a step of a fair::Task returned in a child of fork()");
    }
  }
}

// It would wait for calls, and a thread of its own would end as if all were well. So does one without a
// scheduler.
TEST_F(ForkExecTest, AChildThatReturnsFromABlockingCallOrAThreadsTaskEnds) {
  for (const bool isBound : {false, true}) {
    std::optional<Scheduler> scheduler;
    std::optional<Scheduler::Binding> bound;
    if (isBound) {
      bound.emplace(scheduler.emplace(smallConfig(1)));
    }
    Child inCall;
    Child inInnerCall;
    Child onThread;
    weft::blocking_call([&] { inCall.begin(); });
    weft::blocking_call([&] { weft::blocking_call([&] { inInnerCall.begin(); }); });
    async(threadExecutor(), [&] { onThread.begin(); }).get();
    for (Child* child : {&inCall, &inInnerCall}) {
      expectSays(child->said(), "blocking_call() returned in a child of fork()");
    }
    expectSays(onThread.said(), "a thread of its own returned in a child of fork()");
  }
}

}  // namespace
}  // namespace weft
