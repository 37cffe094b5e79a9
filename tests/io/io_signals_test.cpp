// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/parallelize.h>
#include <weft/select.h>

#include "in_task.h"
#include "io/io_pairs.h"
#include "io/slot_waits.h"
#include "waiting.h"
#include "with_scheduler.h"

namespace weft::io_signals_test {
namespace {

using std::chrono::milliseconds;
using tests::Kind;
using tests::kKinds;

// Other tests of this program get SIGUSR1 and SIGHUP.
const int kFirst = SIGUSR2, kSecond = SIGPWR, kQueued = SIGRTMIN + 1;

sigset_t setOf(std::initializer_list<int> numbers) {
  sigset_t result;
  sigemptyset(&result);
  for (const int number : numbers) {
    sigaddset(&result, number);
  }
  return result;
}

bool change(int how, std::initializer_list<int> numbers) {
  const sigset_t set = setOf(numbers);
  return pthread_sigmask(how, &set, nullptr) == 0;
}

// Before the program has threads, all of which inherit it.
const bool kAreBlocked = change(SIG_BLOCK, {kFirst, kSecond, SIGCHLD, kQueued});

bool isBlocked(int number) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, number) == 1;
}

void sendToProcess(int number) { EXPECT_EQ(kill(getpid(), number), 0); }

// Queues a signal with a value. Waits while as many as the user may have are queued.
void queue(int number, int value) {
  tests::awaitThat([&] {
    sigval sent{};
    sent.sival_int = value;
    const int result = sigqueue(getpid(), number, sent);
    EXPECT_TRUE(result == 0 || errno == EAGAIN);
    return result == 0;
  });
}

class AwaitSignalsTest : public tests::WithScheduler {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kAreBlocked);
    WithScheduler::SetUp();
  }

  // Runs f() in each kind of code, one after the other.
  template <class F>
  void inEachKind(F f) {
    for (const Kind kind : kKinds) {
      tests::Crew crew(scheduler());
      crew.start(kind, f);
    }
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(AwaitSignalsTest);

TEST_P(AwaitSignalsTest, NextTellsWhichSignalHasComeAndWhoSentIt) {
  io::Signals signals({kFirst, kSecond});
  inEachKind([&] {
    for (const int number : {kFirst, kSecond}) {
      sendToProcess(number);
      const io::SignalInfo info = signals.next();
      EXPECT_EQ(info.number, number);
      EXPECT_EQ(info.code, SI_USER);
      EXPECT_EQ(info.sender, getpid());
      EXPECT_EQ(info.user, getuid());
    }
  });
}

TEST_P(AwaitSignalsTest, ASignalEndsAWaitThatHasBegun) {
  io::Signals signals({kFirst});
  for (const Kind kind : kKinds) {
    tests::Crew crew(scheduler());
    std::atomic<bool> hasBegun{false};
    crew.start(kind, [&] {
      hasBegun = true;
      EXPECT_EQ(signals.next().number, kFirst);
    });
    tests::awaitThat([&] { return hasBegun.load(); });
    sendToProcess(kFirst);
  }
}

TEST_P(AwaitSignalsTest, ASelectTakesASignal) {
  io::Signals signals({kFirst}), others({kSecond});
  for (const Kind kind : kKinds) {
    tests::Crew crew(scheduler());
    std::atomic<int> step{0};
    crew.start(kind, [&] {
      io::SignalInfo info;
      bool isCalled = false;
      EXPECT_EQ(select(io::onNext(signals), onTimeout(milliseconds(1)), io::onNext(others)), 1u);
      std::vector<AnyCase> cases;
      cases.emplace_back(io::onNext(signals, [&](const io::SignalInfo& taken) { info = taken; }));
      cases.emplace_back(io::onNext(others, [&] { isCalled = true; }));
      step = 1;
      EXPECT_EQ(select(cases), 0u);
      EXPECT_EQ(info.number, kFirst);
      EXPECT_EQ(info.sender, getpid());
      EXPECT_EQ(signals.tryNext(), std::nullopt);
      step = 2;
      EXPECT_EQ(select(cases), 1u);
      EXPECT_TRUE(isCalled);
      EXPECT_EQ(others.tryNext(), std::nullopt);
    });
    tests::awaitThat([&] { return step == 1; });
    sendToProcess(kFirst);
    tests::awaitThat([&] { return step == 2; });
    sendToProcess(kSecond);
  }
}

TEST_P(AwaitSignalsTest, WhatASelectDoesNotChooseIsNotTaken) {
  io::Signals signals({kFirst});
  inEachKind([&] {
    sendToProcess(kFirst);
    size_t chosen = 1;
    // A select begins with a random case.
    while (chosen == 1) {
      chosen = select(io::onNext(signals), onTimeout(io::TimePoint::min()));
    }
    EXPECT_EQ(signals.tryNext(), std::nullopt);
    sendToProcess(kFirst);
    const Event event(Event::Mode::Manual, true);
    chosen = 0;
    while (chosen == 0) {
      chosen = select(onSignal(event), onTimeout(io::TimePoint::min()));
    }
    EXPECT_NE(signals.tryNext(), std::nullopt);
  });
}

// All are woken, one takes it, and the others go on waiting.
TEST_P(AwaitSignalsTest, EachSignalGoesToOneOfManySelectsAndNextCalls) {
  const int count = tests::scaled(200, 50);
  io::Signals signals({kQueued});
  std::atomic<int> numTaken{0};
  std::atomic<int64_t> sum{0};
  std::stop_source over;
  tests::Crew crew(scheduler());
  const auto note = [&](const io::SignalInfo& info) {
    ++numTaken;
    sum += info.value.sival_int;
  };
  for (int i = 0; i < 6; ++i) {
    crew.start(tests::kindOf(i), [&, i] {
      while (!over.stop_requested()) {
        select(io::onNext(signals, note), onStop(over.get_token()), onTimeout(milliseconds(1 + i)));
      }
    });
  }
  crew.start(Kind::Task, [&] {
    std::error_code error;
    while (!error) {
      const io::SignalInfo info = signals.next(error, {.stop = over.get_token()});
      if (!error) {
        note(info);
      }
    }
  });
  for (int i = 1; i <= count; ++i) {
    queue(kQueued, i);
  }
  tests::awaitThat([&] { return numTaken == count; });
  over.request_stop();
  crew.join();
  EXPECT_EQ(numTaken, count);
  EXPECT_EQ(sum, int64_t{count} * (count + 1) / 2);
  EXPECT_EQ(signals.tryNext(), std::nullopt);
}

// It is woken for a signal that another has taken.
TEST_P(AwaitSignalsTest, ASelectThatIsTooLateGoesOnWaiting) {
  io::Signals signals({kFirst});
  int numTaken = 0;
  tests::inTask([&] {
    tests::WithFalseReport waiting(signals.fd(), [&] {
      select(onTimeout(std::chrono::hours(1)),
             io::onNext(signals, [&](const io::SignalInfo& info) { numTaken += info.number == kFirst; }));
    });
    EXPECT_TRUE(waiting.goesOn());
    sendToProcess(kFirst);
  });
  EXPECT_EQ(numTaken, 1);
}

TEST_P(AwaitSignalsTest, ASelectThrowsWhereTheSignalsAreClosed) {
  for (const Kind kind : kKinds) {
    io::Signals signals({kFirst});
    std::atomic<bool> hasBegun{false};
    tests::Crew crew(scheduler());
    crew.start(kind, [&] {
      for (int i = 0; i < 2; ++i) {
        hasBegun = true;
        EXPECT_THROW(select(io::onNext(signals), onTimeout(std::chrono::hours(1))), std::system_error);
      }
    });
    tests::awaitThat([&] { return hasBegun.load(); });
    signals.close();
    crew.join();
  }
}

TEST_P(AwaitSignalsTest, ADeadlineEndsTheWaitAndLosesNothing) {
  io::Signals signals({kFirst});
  inEachKind([&] {
    std::error_code error;
    for (const auto time : {milliseconds(-1), milliseconds(2)}) {
      const io::TimePoint deadline = io::TimePoint::clock::now() + time;
      EXPECT_EQ(signals.next(error, {.deadline = deadline}).number, 0);
      EXPECT_EQ(error, std::errc::timed_out);
      EXPECT_GE(io::TimePoint::clock::now(), deadline);
    }
    sendToProcess(kFirst);
    EXPECT_EQ(signals.next(error, {.deadline = io::TimePoint::min()}).number, kFirst)
        << "an operation that need not wait succeeds";
    EXPECT_FALSE(error);
  });
}

TEST_P(AwaitSignalsTest, AStopEndsTheWaitAndLosesNothing) {
  io::Signals signals({kFirst});
  inEachKind([&] {
    std::stop_source stop;
    std::error_code error;
    std::thread stopper([&] { stop.request_stop(); });
    EXPECT_EQ(signals.next(error, {.stop = stop.get_token()}).number, 0);
    EXPECT_EQ(error, std::errc::operation_canceled);
    stopper.join();
    EXPECT_EQ(signals.next(error, {.stop = stop.get_token()}).number, 0);
    EXPECT_EQ(error, std::errc::operation_canceled);
    sendToProcess(kFirst);
    EXPECT_EQ(signals.next(error, {.stop = stop.get_token()}).number, kFirst);
    EXPECT_FALSE(error);
  });
}

TEST_P(AwaitSignalsTest, TryNextTakesWhatIsThereAndDoesNotWait) {
  io::Signals signals({kFirst});
  inEachKind([&] {
    std::error_code error = std::make_error_code(std::errc::timed_out);
    EXPECT_EQ(signals.tryNext(error), std::nullopt);
    EXPECT_FALSE(error);
    sendToProcess(kFirst);
    const std::optional<io::SignalInfo> found = signals.tryNext();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->number, kFirst);
    EXPECT_EQ(signals.tryNext(), std::nullopt);
  });
}

TEST_P(AwaitSignalsTest, TwoThatWaitGetOneSignalEach) {
  io::Signals signals({kFirst, kSecond});
  for (const Kind first : kKinds) {
    for (const Kind second : kKinds) {
      tests::Crew crew(scheduler());
      std::atomic<int> numBegun{0}, sum{0};
      const auto take = [&] {
        ++numBegun;
        sum += signals.next().number;
      };
      crew.start(first, take);
      crew.start(second, take);
      tests::awaitThat([&] { return numBegun == 2; });
      sendToProcess(kFirst);
      sendToProcess(kSecond);
      crew.join();
      EXPECT_EQ(sum, kFirst + kSecond);
      EXPECT_EQ(signals.tryNext(), std::nullopt);
    }
  }
}

TEST_P(AwaitSignalsTest, AStandardSignalThatComesTwiceCountsOnce) {
  io::Signals signals({kFirst});
  sendToProcess(kFirst);
  sendToProcess(kFirst);
  EXPECT_EQ(signals.next().number, kFirst);
  EXPECT_EQ(signals.tryNext(), std::nullopt);
}

TEST_P(AwaitSignalsTest, RealTimeSignalsComeInOrderWithTheirValues) {
  constexpr int kNum = 1'000;
  io::Signals signals({kQueued});
  inEachKind([&] {
    std::thread sender([] {
      for (int i = 0; i < kNum; ++i) {
        queue(kQueued, i);
      }
    });
    for (int i = 0; i < kNum; ++i) {
      const io::SignalInfo info = signals.next();
      ASSERT_EQ(info.number, kQueued);
      ASSERT_EQ(info.code, SI_QUEUE);
      ASSERT_EQ(info.value.sival_int, i);
    }
    sender.join();
  });
}

TEST_P(AwaitSignalsTest, AValueMayBeAPointer) {
  io::Signals signals({kQueued});
  int object = 0;
  sigval sent{};
  sent.sival_ptr = &object;
  ASSERT_EQ(sigqueue(getpid(), kQueued, sent), 0);
  EXPECT_EQ(signals.next().value.sival_ptr, &object);
}

TEST_P(AwaitSignalsTest, EachOfManySignalsGoesToOneOfMany) {
  constexpr int kNum = 1'000, kReaders = 6;
  io::Signals signals({kQueued});
  std::mutex guard;
  std::multiset<int> taken;
  tests::Crew crew(scheduler());
  for (int i = 0; i < kReaders; ++i) {
    crew.start(tests::kindOf(i), [&] {
      for (int value = 0; value >= 0;) {
        value = signals.next().value.sival_int;
        const std::scoped_lock lock(guard);
        taken.insert(value);
      }
    });
  }
  for (int i = 0; i < kNum; ++i) {
    queue(kQueued, i);
  }
  for (int i = 0; i < kReaders; ++i) {
    queue(kQueued, -1);
  }
  crew.join();
  EXPECT_EQ(taken.size(), static_cast<size_t>(kNum + kReaders));
  for (int i = 0; i < kNum; ++i) {
    EXPECT_EQ(taken.count(i), 1u) << i;
  }
}

TEST_P(AwaitSignalsTest, TheEndOfAChildIsTold) {
  io::Signals signals({SIGCHLD});
  signals.tryNext();  // what a child of another test has left
  inEachKind([&] {
    const pid_t exited = fork();
    if (exited == 0) {
      _exit(7);
    }
    ASSERT_GT(exited, 0);
    io::SignalInfo info = signals.next();
    EXPECT_EQ(info.number, SIGCHLD);
    EXPECT_EQ(info.sender, exited);
    EXPECT_EQ(info.code, CLD_EXITED);
    EXPECT_EQ(info.status, 7);
    EXPECT_EQ(waitpid(exited, nullptr, 0), exited);
    const pid_t killed = fork();
    if (killed == 0) {
      for (;;) {
        pause();
      }
    }
    ASSERT_GT(killed, 0);
    kill(killed, SIGKILL);
    info = signals.next();
    EXPECT_EQ(info.sender, killed);
    EXPECT_EQ(info.code, CLD_KILLED);
    EXPECT_EQ(info.status, SIGKILL);
    EXPECT_EQ(waitpid(killed, nullptr, 0), killed);
  });
}

TEST_P(AwaitSignalsTest, ASignalToOneThreadIsForWaitsOnThatThread) {
  io::Signals signals({kFirst});
  inEachKind([&] {
    raise(kFirst);
    std::thread([&] { EXPECT_EQ(signals.tryNext(), std::nullopt); }).join();
    EXPECT_EQ(signals.next().number, kFirst);
  });
}

TEST_P(AwaitSignalsTest, CloseEndsTheWaitsOfFibers) {
  io::Signals signals({kFirst});
  tests::Crew crew(scheduler());
  std::atomic<int> numBegun{0};
  for (int i = 0; i < 2; ++i) {
    crew.start(Kind::Task, [&] {
      std::error_code error;
      ++numBegun;
      EXPECT_EQ(signals.next(error).number, 0);
      // The close may have come before the wait.
      EXPECT_TRUE(error == std::errc::operation_canceled || error == std::errc::bad_file_descriptor);
    });
  }
  tests::awaitThat([&] { return numBegun == 2; });
  signals.close();
  crew.join();
  EXPECT_FALSE(signals);
  std::error_code error;
  signals.next(error);
  EXPECT_EQ(error, std::errc::bad_file_descriptor);
  EXPECT_EQ(signals.tryNext(error), std::nullopt);
  EXPECT_EQ(error, std::errc::bad_file_descriptor);
  EXPECT_THROW(signals.next(), std::system_error);
  EXPECT_THROW(signals.tryNext(), std::system_error);
}

using AwaitSignalsAloneTest = ::testing::Test;

std::string whatIsSaidOf(std::initializer_list<int> numbers) {
  try {
    const io::Signals signals(numbers);
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::invalid_argument);
    return error.what();
  }
  return "nothing";
}

TEST_F(AwaitSignalsAloneTest, WhatCannotBeAwaitedIsRefused) {
  const auto expectSaid = [](std::initializer_list<int> numbers, const std::string& what) {
    EXPECT_NE(whatIsSaidOf(numbers).find("weft::io::Signals: " + what), std::string::npos)
        << whatIsSaidOf(numbers);
  };
  expectSaid({}, "there is no signal to wait for");
  expectSaid({kFirst, 0}, "the number 0 is no signal");
  expectSaid({-1}, "the number -1 is no signal");
  expectSaid({SIGRTMAX + 1}, "the number " + std::to_string(SIGRTMAX + 1) + " is no signal");
  expectSaid({SIGKILL}, "signal 9 (Killed) cannot be awaited: the system acts on it at once");
  expectSaid({kFirst, SIGSTOP}, "signal 19");
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    expectSaid({number}, "signal " + std::to_string(number));
    EXPECT_NE(whatIsSaidOf({number}).find("its own faulty instruction"), std::string::npos);
  }
}

TEST_F(AwaitSignalsAloneTest, TheDescriptorNeitherBlocksNorSurvivesAnExec) {
  const io::Signals signals({kFirst});
  EXPECT_NE(fcntl(signals.fd(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(signals.fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(AwaitSignalsAloneTest, OnlyOneOwnsTheDescriptor) {
  io::Signals empty;
  EXPECT_FALSE(empty);
  std::error_code error;
  empty.next(error);
  EXPECT_EQ(error, std::errc::bad_file_descriptor);
  const std::vector<int> numbers = {kFirst, kFirst, kSecond};
  io::Signals signals{std::span<const int>(numbers)};
  const int number = signals.fd();
  empty = std::move(signals);
  EXPECT_FALSE(signals);
  EXPECT_EQ(empty.fd(), number);
  sendToProcess(kSecond);
  EXPECT_EQ(empty.next().number, kSecond);
  const io::UniqueFd released = empty.release();
  EXPECT_EQ(released.get(), number);
  EXPECT_FALSE(empty);
}

TEST_F(AwaitSignalsAloneTest, AFiberThatWaitsLetsOthersRun) {
  io::Signals signals({kFirst});
  Scheduler scheduler(tests::smallConfig(0));
  const Scheduler::Binding bound(scheduler);
  WaitGroup done(1);
  bool hasBegun = false, hasEnded = false;
  schedule([&, done] {
    hasBegun = true;
    EXPECT_EQ(signals.next().number, kFirst);
    hasEnded = true;
    done.done();
  });
  tests::awaitThat([&] { return hasBegun; });
  EXPECT_FALSE(hasEnded);
  sendToProcess(kFirst);
  done.wait();
  EXPECT_TRUE(hasEnded);
}

TEST_F(AwaitSignalsAloneTest, TheSignalsStayBlockedInTheThread) {
  std::thread([] {
    change(SIG_UNBLOCK, {kFirst});
    {
      io::Signals signals({kFirst});
      EXPECT_TRUE(isBlocked(kFirst));
      raise(kFirst);
    }
    EXPECT_TRUE(isBlocked(kFirst)) << "it has come, and would end the program";
    EXPECT_EQ(io::Signals({kFirst}).next().number, kFirst);
  }).join();
}

TEST_F(AwaitSignalsAloneTest, AThreadThatDoesNotBlockASignalIsNamedAndTheMaskIsAsBefore) {
  std::latch hasBegun(1), end(1);
  std::thread careless([&] {
    pthread_setname_np(pthread_self(), "careless");
    change(SIG_UNBLOCK, {kSecond});
    hasBegun.count_down();
    end.wait();
  });
  std::thread([&] {
    hasBegun.wait();
    change(SIG_UNBLOCK, {kSecond});
    try {
      io::Signals signals({kSecond});
      ADD_FAILURE() << "the thread may get the signal";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::operation_not_permitted);
      EXPECT_NE(std::string(error.what()).find("(careless) does not block"), std::string::npos)
          << error.what();
    }
    EXPECT_FALSE(isBlocked(kSecond));
  }).join();
  end.count_down();
  careless.join();
}

// It may have begun, or not.
TEST_F(AwaitSignalsAloneTest, AWorkerThatDoesNotBlockASignalIsNamed) {
  change(SIG_UNBLOCK, {kSecond});
  Scheduler scheduler(tests::smallConfig(1));
  try {
    io::Signals signals({kFirst, kSecond});
    ADD_FAILURE() << "the worker may get the signal";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::operation_not_permitted);
    EXPECT_NE(std::string(error.what()).find("(weft:0) does not block signal " + std::to_string(kSecond)),
              std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(change(SIG_BLOCK, {kSecond}));
}

// Returns: whether a thread of this process blocks kSecond, and sleeps.
bool sleepsWithSecondBlocked(pid_t thread) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  std::string key, state;
  while (status >> key && key != "State:") {
  }
  status >> state;
  while (status >> key && key != "SigBlk:") {
  }
  uint64_t mask = 0;
  status >> std::hex >> mask;
  return state == "S" && (mask >> (kSecond - 1) & 1) != 0;
}

// Such as one that has begun and is about to block all signals. The constructor sleeps between its looks.
TEST_F(AwaitSignalsAloneTest, AThreadThatIsAboutToBlockTheSignalsIsWaitedFor) {
  std::thread([] {
    std::atomic<bool> isUnblocked{false};
    std::atomic<bool> isOver{false};
    std::thread other([&, thread = gettid()] {
      change(SIG_UNBLOCK, {kSecond});
      isUnblocked = true;
      while (!isOver && !sleepsWithSecondBlocked(thread)) {
        std::this_thread::yield();
      }
      change(SIG_BLOCK, {kSecond});
    });
    change(SIG_UNBLOCK, {kSecond});
    tests::awaitThat([&] { return isUnblocked.load(); });
    bool isMade = false;
    for (int i = 0; i < 20 && !isMade; ++i) {  // more than once where the other thread gets no processor
      try {
        io::Signals signals({kSecond});
        isMade = true;
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::operation_not_permitted);
      }
    }
    EXPECT_TRUE(isMade);
    isOver = true;
    other.join();
  }).join();
}

TEST_F(AwaitSignalsAloneTest, AThreadThatHasEndedTakesNoSignal) {
  for (int i = 0; i < 300; ++i) {
    std::thread([] { change(SIG_UNBLOCK, {kSecond}); }).join();
    EXPECT_NO_THROW(io::Signals({kSecond}));
  }
}

TEST_F(AwaitSignalsAloneTest, AProcessWithoutDescriptorsGetsAnErrorAndItsMaskBack) {
  std::thread([] {
    change(SIG_UNBLOCK, {kFirst});
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    std::error_code code;
    try {
      io::Signals signals({kFirst});
    } catch (const std::system_error& error) {
      code = error.code();
    }
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(code, std::errc::too_many_files_open);
    EXPECT_FALSE(isBlocked(kFirst));
  }).join();
}

void runServerUntilSignal() {
  const io::Endpoint address = io::Endpoint::parse("127.0.0.1", 0);
  weft::io::Listener listener = weft::io::Listener::listen(address);
  const auto handler = [](const io::Socket&) {};
  change(SIG_BLOCK, {SIGTERM});
  sendToProcess(SIGTERM);
  weft::io::Signals signals({SIGINT, SIGTERM});  // first in main(): threads inherit the mask
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  std::stop_source stop;
  const weft::io::Wait untilStop{.stop = stop.get_token()};
  std::error_code error;
  weft::parallelize([&] { signals.next(error, untilStop), stop.request_stop(); },
                    [&] { weft::io::serve(listener, handler, untilStop), stop.request_stop(); });
}

using AwaitSignalsDeathTest = tests::DeathTest;

TEST_F(AwaitSignalsDeathTest, AServerEndsInOrderAtASignal) {
  EXPECT_EXIT(
      {
        runServerUntilSignal();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace weft::io_signals_test
