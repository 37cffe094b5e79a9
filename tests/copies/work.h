// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/fair/task_scheduler.h>
#include <weft/weft.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

// What the libraries and the program of the test do with weft. Some of it is inline and has the default
// visibility, as much code has: the dynamic linker may make it one for all of them. (Code over another
// version of weft has the namespace VERSION, and stays apart.)

#if !defined(VERSION)
#define VERSION ofThisVersion
#endif
inline namespace VERSION {

inline weft::Event alwaysSignalled(weft::Event::Mode::Manual, true);

// Null until it is used, and after endWhatIsOneForAll().
inline std::unique_ptr<weft::Scheduler>& schedulerOfAll() {
  static std::unique_ptr<weft::Scheduler> scheduler;
  return scheduler;
}

// To be called before a library is closed: dlclose() destroys its static objects while it holds the dynamic
// linker's lock, for which a worker may wait.
inline void endWhatIsOneForAll() { schedulerOfAll().reset(); }

// Returns: 4.
inline int useWhatIsOneForAll() {
  static weft::Event isUsed(weft::Event::Mode::Manual);
  isUsed.signal();
  isUsed.wait();
  alwaysSignalled.wait();
  if (schedulerOfAll() == nullptr) {
    schedulerOfAll() = std::make_unique<weft::Scheduler>(weft::Scheduler::Config().setWorkerThreadCount(1));
  }
  return weft::async(*schedulerOfAll(), [] { return 4; }).get();
}

template <class T>
class Sum {
 public:
  // Returns: the sum of the numbers below `count`, made by tasks and channels.
  T below(T count) {
    weft::WaitGroup done(1);
    const weft::Channel<T> numbers(1);
    weft::schedule([this, numbers, done] {
      for (const T number : numbers) {
        weft::sleep_for(std::chrono::microseconds(5));
        const weft::lock guard(mutex_);
        sum_ += number;
      }
      done.done();
    });
    for (T i = 0; i < count; ++i) {
      numbers.send(i);
    }
    numbers.close();
    done.wait();
    return sum_;
  }

 private:
  weft::mutex mutex_;
  T sum_ = 0;
};

// Returns: the n-th number of Fibonacci.
static int fibonacci(int n) {
  if (n < 2) {
    return n;
  }
  int before = 0;
  weft::TaskGroup group;
  group.run([&] { before = fibonacci(n - 2); });
  const int last = fibonacci(n - 1);
  group.wait();
  return before + last;
}

// Returns: 7.
static int sortAndReduce() {
  std::vector<int> numbers(2000);
  for (int i = 0; i < 2000; ++i) {
    numbers[static_cast<size_t>(i)] = i * 7919 % 2000;
  }
  weft::parallelSort(numbers);
  return std::is_sorted(numbers.begin(), numbers.end()) && weft::parallelReduce(numbers, 0) == 1'999'000 ? 7
                                                                                                         : 0;
}

// Returns: 3.
inline int throwAndCatch() {
  weft::TaskGroup group;
  group.run([] { throw std::runtime_error("of a task"); });
  try {
    group.wait();
  } catch (const std::runtime_error&) {
    return 3;
  }
  return 0;
}

// Returns: 5.
inline int runAStep() {
  int result = 0;
  weft::fair::TaskScheduler scheduler("copies", 1);
  weft::fair::Task task([&] { result = weft::fair::TaskScheduler::current() == &scheduler ? 5 : 0; });
  scheduler.post(&task);
  scheduler.waitEmpty();
  return result;
}

// Uses the scheduler that is bound, or one of its own. Returns: 190 + 55 + 7 + 3 + 5 + 4.
static int useWeft() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  std::optional<weft::Scheduler::Binding> bound;
  if (weft::Scheduler::get() == nullptr) {
    bound.emplace(scheduler);
  }
  return Sum<int>().below(20) + fibonacci(10) + sortAndReduce() + throwAndCatch() + runAStep() +
         useWhatIsOneForAll();
}

// Overflows the stack of a task, of which weft tells as it ends the process.
[[maybe_unused]] static void overflowInATask() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  const weft::Scheduler::Binding bound(scheduler);
  struct Deeper {
    static int by(int depth) {
      volatile char frame[512];
      frame[0] = static_cast<char>(depth);
      return depth == 0 ? 0 : by(depth - 1) + frame[0];
    }
  };
  weft::async([] { return Deeper::by(1'000'000); }).get();
}

}  // namespace VERSION
