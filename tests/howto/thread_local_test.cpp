// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The code of docs/howto/thread_local.md.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include <weft/fiberlocal.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

namespace {

thread_local int numCalls = 0;

void handleAll() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(0));
  weft::Scheduler::Binding bound(scheduler);
  weft::FiberLocal<std::string> request([] { return std::string("none"); });
  weft::WaitGroup done(2);
  for (const char* name : {"first", "second"}) {
    weft::schedule([&request, done, name] {
      *request = name;  // this task's own
      ++numCalls;       // the thread's: both tasks count here
      weft::yield();    // the other task runs
      std::printf("%s, numCalls is %d\n", request->c_str(), numCalls);
      done.done();
    });
  }
  done.wait();
}

// Returns: the error of a failed call.
int failAndWait() {
  errno = ENOENT;           // as a call does that fails
  const int error = errno;  // read it before the task waits
  weft::yield();            // other tasks of this thread may change errno
  return error;
}

TEST(ThreadLocalHowtoTest, AFiberLocalIsTheTasksAndAThreadLocalTheThreads) {
  testing::internal::CaptureStdout();
  handleAll();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "first, numCalls is 2\nsecond, numCalls is 2\n");
}

TEST(ThreadLocalHowtoTest, AnAddressStaysRightAcrossWaits) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  const weft::Scheduler::Binding bound(scheduler);
  const weft::WaitGroup done(64);
  for (int i = 0; i < 64; ++i) {
    weft::schedule([=] {
      const int* const before = &numCalls;
      EXPECT_EQ(failAndWait(), ENOENT);
      EXPECT_EQ(before, &numCalls);
      done.done();
    });
  }
  done.wait();
}

}  // namespace
