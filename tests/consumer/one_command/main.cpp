// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// An application that is compiled together with weft by one command. With an argument it misuses weft.

#if __has_include("weft.h")
#include "weft.h"
#else
#include <weft/weft.h>
#endif

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

// In bare.cpp. Returns: the number of tasks that have run.
int runTasks(int count);

namespace {

// Tasks that wait for an event, and send to a channel that has less room than they need.
int sumOfChannel() {
  weft::Event start(weft::Event::Mode::Manual);
  weft::Channel<int> numbers(2);
  for (int i = 1; i <= 10; ++i) {
    weft::schedule([=] {
      start.wait();
      numbers.send(i);
    });
  }
  start.signal();
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    sum += numbers.receive().value_or(0);
  }
  return sum;
}

int sumOfLoop() {
  std::vector<int> squares(100);
  weft::parallelFor(0, 100, [&](int i) { squares[static_cast<std::size_t>(i)] = i * i; });
  return std::accumulate(squares.begin(), squares.end(), 0);
}

// An exception leaves a task by its future. Another is caught after its fiber has waited.
std::string exceptions() {
  std::string caught;
  auto failing = weft::async([]() -> int { throw std::runtime_error("from a future"); });
  try {
    failing.get();
  } catch (const std::runtime_error& error) {
    caught = error.what();
  }
  weft::async([&] {
    try {
      throw std::runtime_error(", after a wait");
    } catch (const std::runtime_error& error) {
      weft::async([] {}).get();
      caught += error.what();
    }
  }).get();
  return caught;
}

}  // namespace

int main(int argc, char**) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  weft::Scheduler::Binding bound(scheduler);
  if (argc > 1) {
    weft::WaitGroup().done();
  }
  const int channel = sumOfChannel();
  const int loop = sumOfLoop();
  const std::string caught = exceptions();
  const int tasks = runTasks(1000);
  std::printf("channel %d, loop %d, exceptions %s, tasks %d\n", channel, loop, caught.c_str(), tasks);
  return channel == 55 && loop == 328350 && caught == "from a future, after a wait" && tasks == 1000 ? 0 : 1;
}
