// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <semaphore>
#include <system_error>
#include <utility>
#include <vector>

#include <weft/blockingcall.h>
#include <weft/executor.h>
#include <weft/future.h>
#include <weft/sanitizers.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "async/deep_nests.h"
#include "next_function.h"
#include "waiting.h"

// What comes of blocking calls and of tasks for threads where the system grants no thread. A sanitizer has a
// pthread_create() of its own.
#if !WEFT_ADDRESS_SANITIZER_ENABLED && !WEFT_THREAD_SANITIZER_ENABLED

namespace {

// Called where this thread asks for a thread, which it does not get then.
constinit thread_local const std::function<void()>* onRefusal = nullptr;

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*),
                              void* argument) noexcept {
  static const auto real = weft::tests::nextFunction<decltype(pthread_create)>("pthread_create");
  if (onRefusal == nullptr) {
    return real(thread, attributes, entry, argument);
  }
  (*onRefusal)();
  return EAGAIN;
}

namespace weft {
namespace {

using tests::awaitThat;
using tests::smallConfig;

// Refuses this thread all threads as long as it lives.
class Refusal {
 public:
  explicit Refusal(const std::function<void()>& call = [] {})
      : call_([this, call] {
          ++count;
          call();
        }) {
    onRefusal = &call_;
  }
  ~Refusal() { onRefusal = nullptr; }
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

  int count = 0;

 private:
  const std::function<void()> call_;
};

// One thread, whose fibers are where they wait when another of them runs. The pool begins without threads.
class RefusedThreadTest : public ::testing::Test {
 protected:
  RefusedThreadTest() : scheduler_(smallConfig(0)), bound_(scheduler_) {
    BlockingThreads::setIdleTime(std::chrono::milliseconds(1));
    awaitThat([] { return BlockingThreads::count() == 0; });
    BlockingThreads::setIdleTime(std::chrono::hours(1));
    BlockingThreads::setMaxCount(1);
  }
  ~RefusedThreadTest() override {
    BlockingThreads::setIdleTime(std::chrono::milliseconds(1));
    (void)blocking_call([] { return 0; });  // its thread ends soon
  }

  // Lets a task make a call. Returns when it waits for it.
  template <class F>
  void call(F function, const WaitGroup& done) {
    bool isBegun = false;
    done.add();
    schedule([&isBegun, function, done] {
      isBegun = true;
      try {
        blocking_call(function);
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code().value(), EAGAIN);
        ++RefusedThreadTest::numRefused;
      }
      done.done();
    });
    awaitThat([&] { return isBegun; });
  }

  static inline int numRefused = 0;

 private:
  Scheduler scheduler_;
  Scheduler::Binding bound_;
};

TEST_F(RefusedThreadTest, CallsThatWaitAreMadeInOrderByTheThreadThatThereIs) {
  std::binary_semaphore go(0);
  const WaitGroup done;
  std::vector<int> made;
  call([&] { go.acquire(); }, done);
  call([&] { made.push_back(1); }, done);
  call([&] { made.push_back(2); }, done);
  {
    const Refusal refusal;
    BlockingThreads::setMaxCount(3);
    EXPECT_EQ(refusal.count, 1);
  }
  go.release();
  done.wait();
  EXPECT_EQ(made, (std::vector<int>{1, 2}));
  EXPECT_EQ(BlockingThreads::count(), 1U);
  EXPECT_EQ(numRefused, 0);
}

TEST_F(RefusedThreadTest, ACallThatWaitsIsMadeByAThreadThatHasBecomeIdleMeanwhile) {
  std::binary_semaphore go(0);
  const WaitGroup first, second;
  bool isMade = false;
  call([&] { go.acquire(); }, first);
  call([&] { isMade = true; }, second);
  {
    const Refusal refusal([&] {
      go.release();
      first.wait();
    });
    BlockingThreads::setMaxCount(2);
    EXPECT_EQ(refusal.count, 1);
  }
  second.wait();
  EXPECT_TRUE(isMade);
  EXPECT_EQ(BlockingThreads::count(), 1U);
  EXPECT_EQ(numRefused, 0);
}

TEST_F(RefusedThreadTest, CallsThatRelyOnTheThreadThatIsRefusedThrowToo) {
  const WaitGroup done;
  {
    Refusal* current = nullptr;
    const std::function<void()> waitForAnother = [&] {
      if (current->count == 1) {
        call([] {}, done);
      }
    };
    Refusal refusal(waitForAnother);
    current = &refusal;
    call([] {}, done);
    done.wait();
    EXPECT_EQ(refusal.count, 2);
  }
  EXPECT_EQ(std::exchange(numRefused, 0), 2);
  EXPECT_EQ(BlockingThreads::count(), 0U);
  EXPECT_EQ(blocking_call([] { return 7; }), 7);
}

TEST_F(RefusedThreadTest, ATaskForAThreadOfItsOwnThrowsAndDropsTheTask) {
  bool isRun = false;
  {
    const Refusal refusal;
    try {
      (void)async(threadExecutor(), [&] { isRun = true; });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code().value(), EAGAIN);
    }
    EXPECT_EQ(refusal.count, 1);
  }
  EXPECT_FALSE(isRun);
  EXPECT_EQ(async(threadExecutor(), [] { return 7; }).get(), 7);
}

// What a deep nest has put off would be told by a thread of its own.
TEST(UnboundRefusedThreadTest, ADeepNestMayWaitForWhatItHasPutOff) {
  const Refusal refusal;
  tests::deepInDestructors(12, [] {});
  EXPECT_GT(refusal.count, 0);
}

}  // namespace
}  // namespace weft

#else

TEST(RefusedThreadTest, CallsThatWaitAreMadeInOrderByTheThreadThatThereIs) {
  GTEST_SKIP() << "a sanitizer makes these calls itself";
}

#endif
