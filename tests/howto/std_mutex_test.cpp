// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The code of docs/howto/std_mutex.md.

#include <gtest/gtest.h>

#include <mutex>

#include <weft/blockingcall.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

namespace {

struct Log {
  void append(int value) { sum += value; }
  int sum = 0;
};

// Suspends, as a call to a server does.
int askServer() {
  weft::yield();
  return 1;
}

struct Account {
  weft::mutex mutex;
  int balance = 0;
};

void deposit(Account& account) {
  const std::lock_guard lock(account.mutex);
  account.balance += askServer();  // may suspend: the mutex stays locked, the thread runs other tasks
}

std::mutex logMutex;  // shared with code that knows nothing of fibers

void appendShortly(Log& log, int value) {
  const std::lock_guard lock(logMutex);
  log.append(value);  // does not wait: a std::mutex is fine
}

void appendAndFlush(Log& log, int value) {
  weft::blocking_call([&] {
    const std::lock_guard lock(logMutex);  // may block for long: this thread is made for that
    log.append(value);
  });
}

TEST(StdMutexHowtoTest, TasksShareAMutexAcrossAWait) {
  for (const int numWorkers : {0, 2}) {
    weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(numWorkers));
    const weft::Scheduler::Binding bound(scheduler);
    Account account;
    Log log;
    const weft::WaitGroup done(8);
    for (int i = 0; i < 8; ++i) {
      weft::schedule([&, done] {
        deposit(account);
        appendShortly(log, 1);
        appendAndFlush(log, 10);
        done.done();
      });
    }
    done.wait();
    EXPECT_EQ(account.balance, 8);
    EXPECT_EQ(log.sum, 88);
  }
}

}  // namespace
