// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The examples of docs/futures.md, after.h and stop_after.h, word for word, for docs_examples_test.cpp.

#include <weft/future.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <stop_token>

#include <weft/mutex.h>
#include <weft/scheduler.h>

#include "with_scheduler.h"

namespace weft::future_stop_examples_test {
namespace {

class FutureStopExamplesTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(FutureStopExamplesTest);

struct Page {
  int number;
};

Page fetch() { return Page{1}; }
Page fetchFromA() { throw std::runtime_error("A is down"); }
Page fetchFromB() { return Page{2}; }
Page fetchNew() { throw std::runtime_error("there is none"); }
Page readCached() { return Page{3}; }

TEST_P(FutureStopExamplesTest, TheFirstSuccessIsTaken) {
  std::stop_source stop;
  weft::Future<Page> page = weft::firstSuccess(stop, weft::async(stop.get_token(), fetchFromA),
                                               weft::async(stop.get_token(), fetchFromB));
  EXPECT_EQ(page.get().number, 2);
  EXPECT_TRUE(stop.stop_requested());
}

TEST_P(FutureStopExamplesTest, AResultThatComesWithinTheTimeIsThere) {
  std::stop_source stop;
  weft::Future<Page> page = weft::async(stop.get_token(), fetch).within(std::chrono::seconds(2), stop);
  page.wait();
  EXPECT_EQ(page.failed(), stop.stop_requested());
}

void connect() {}

TEST_P(FutureStopExamplesTest, AFunctionIsCalledLater) {
  Scheduler& scheduler = *Scheduler::get();
  weft::Future<void> retry = weft::after(std::chrono::seconds(1)).then(scheduler, [] { connect(); });
  EXPECT_TRUE(retry.valid());  // it may outlast the scheduler
}

TEST_P(FutureStopExamplesTest, OneLimitIsForSeveralCalls) {
  weft::mutex mutex;
  std::stop_source source;
  const std::stop_token token = source.get_token();
  weft::StopAfter limit(std::chrono::milliseconds(100), token);
  weft::Future<Page> page = weft::async(limit.token(), fetch);
  bool isLocked = mutex.lock(limit.token());
  EXPECT_TRUE(isLocked) << "a mutex that is free is locked in any case";
  if (isLocked) {
    mutex.unlock();
  }
  page.wait();
}

TEST_P(FutureStopExamplesTest, TheFirstSuccessIsTakenWithinALimitThatHasAParent) {
  std::stop_source parent;
  const std::stop_token token = parent.get_token();
  parent.request_stop();
  weft::StopAfter limit(std::chrono::seconds(2), token);
  weft::Future<Page> page = weft::firstSuccess(limit.source(), weft::async(limit.token(), fetchFromA),
                                               weft::async(limit.token(), fetchFromB));
  page.wait();
  EXPECT_THROW(page.get(), TaskCanceled) << "the parent has stopped both before they began";
}

TEST_P(FutureStopExamplesTest, AWaitEndsAtTheLimit) {
  weft::StopAfter limit(std::chrono::milliseconds(100));
  weft::Future<Page> page = weft::async(limit.token(), fetch);
  const bool isInTime = page.wait(limit.token());
  EXPECT_TRUE(!isInTime || page.ready());
  page.wait();
}

std::atomic<int> numErrors{0};
void log(const std::exception_ptr& error) { numErrors += error != nullptr; }

TEST_P(FutureStopExamplesTest, AnErrorIsNotedAndRecoveredFrom) {
  numErrors = 0;
  weft::Future<Page> page =
      weft::async(fetchNew).onError([](std::exception_ptr error) { log(error); }).recover([] {
        return weft::async(readCached);
      });
  EXPECT_EQ(page.get().number, 3);
  EXPECT_EQ(numErrors, 1);
}

}  // namespace
}  // namespace weft::future_stop_examples_test
