// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/defer.h>
#include <weft/weft.h>

#include <cstddef>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "crew.h"

#if WEFT_VERSION != WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH
#error "the preprocessor does not know the version"
#endif

namespace {

constexpr int kCrew = 100;
constexpr int kSum = kCrew * (kCrew + 1) / 2;

/// A task that launches others, and blocks on an event and on a wait group meanwhile.
int lead() {
  Crew crew;
  weft::Event start(weft::Event::Mode::Manual);
  weft::WaitGroup done(kCrew);
  crew.launch(kCrew, start, done);

  weft::Event warm(weft::Event::Mode::Auto);
  weft::schedule([](const weft::Event& event) { event.signal(); }, warm);
  warm.wait();

  start.signal();
  done.wait();
  return crew.sum();
}

/// A future, by way of a task handle and a continuation; where it fails, its message ends the program.
bool futuresWork() {
  weft::MainLoopExecutor loop;
  weft::Future<int> answer =
      weft::async(loop, [] { return 20; }).then(weft::inlineExecutor(), [](int n) { return n + 1; });
  loop.runAll();
  const int twice = weft::async([&answer] { return 2 * answer.get(); }).get();
  return twice == 42 && weft::whenAny(weft::makeReadyFuture(1)).get().index == 0;
}

/// Forks, groups, parallel algorithms, channels and further locks.
bool structureWorks() {
  std::vector<int> numbers(1000);
  weft::parallelFor(size_t{0}, numbers.size(), [&](size_t i) { numbers[i] = static_cast<int>(999 - i); });
  weft::parallelSort(numbers.begin(), numbers.end());
  int first = -1;
  int last = -1;
  std::tie(first, last) = weft::join([&] { return numbers.front(); }, [&] { return numbers.back(); });

  weft::Channel<int> channel(4);
  weft::Latch sent(1);
  weft::SharedMutex mutex;
  weft::TaskGroup group;
  group.run([&] {
    const std::scoped_lock lock(mutex);
    channel.send(first + last);
    sent.count_down();
  });
  sent.wait();
  int received = 0;
  weft::select(weft::onReceive(channel, [&](std::optional<int> value) { received = value.value_or(0); }));
  group.wait();
  return received == 999;
}

/// The headers, the library and the CMake package are of one version.
bool versionsAgree() {
#if defined(PACKAGE_VERSION)
  if (std::string_view(PACKAGE_VERSION) != WEFT_VERSION_STRING) {
    return false;
  }
#endif
  return weft::version() == WEFT_VERSION;
}

int run(int workers) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(workers));
  scheduler.bind();
  defer(scheduler.unbind());

  if (!futuresWork() || !structureWorks()) {
    return 0;
  }

  int sum = 0;
  weft::WaitGroup finished(1);
  weft::schedule([&sum, finished] {
    sum = lead();
    finished.done();
  });
  finished.wait();
  return sum;
}

}  // namespace

int main() {
  if (!versionsAgree()) {
    std::fprintf(stderr, "the headers are weft %s, the library is %d\n", WEFT_VERSION_STRING,
                 weft::version());
    return 1;
  }
  for (int workers : {0, 1, 4}) {
    int sum = run(workers);
    if (sum != kSum) {
      std::fprintf(stderr, "%d workers: the sum is %d, not %d\n", workers, sum, kSum);
      return 1;
    }
  }
  std::puts("consumer: ok");
  return 0;
}
