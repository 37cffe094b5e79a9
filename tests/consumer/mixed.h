// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weft/fair/bridge.h>
#include <weft/weft.h>

#include <optional>
#include <vector>

// A program of two parts, one of which is compiled with exceptions. What stands here is compiled in both. Of
// each of weft's functions that is not inlined the linker keeps one copy, of either part; each part has uses
// of its own, whose destructors have to run where the exceptions are caught.

// Of the part with exceptions.
int throwIfOdd(int number);
weft::fair::Coro<int> throwIfOddLater(int number);

struct ThrowIfOdd {
  int number;
  int operator()() const { return throwIfOdd(number); }
};

struct ThrowIfOddElement {
  void operator()(int number) const { throwIfOdd(number); }
};

// One use of each kind, the same code for both parts: with 1 an exception is thrown out of them.
static int getFuture(int number) { return weft::async(ThrowIfOdd{number}).get(); }
static int getShared(int number) { return weft::async(ThrowIfOdd{number}).share().get(); }
static int waitForGroup(int number) {
  weft::TaskGroup group;
  group.run(ThrowIfOdd{number});
  group.wait();
  return number;
}
static int joinTwo(int number) {
  weft::join(ThrowIfOdd{0}, ThrowIfOdd{number});
  return number;
}
static int loop(int number) {
  std::vector<int> numbers(1000);
  numbers[500] = number;
  weft::parallelFor(numbers, ThrowIfOddElement());
  return number;
}
static int callBlocking(int number) { return weft::blocking_call(ThrowIfOdd{number}); }
static int parallelizeTwo(int number) {
  weft::parallelize(ThrowIfOdd{0}, ThrowIfOdd{number});
  return number;
}
static int continueFuture(int number) {
  return weft::async(ThrowIfOdd{number}).then(weft::inlineExecutor(), [](int n) { return n; }).get();
}
static int getPromise(int number) {
  weft::Promise<int> promise;
  weft::async([&promise, number] { promise.set_value(throwIfOdd(number)); }).wait();
  return number == 0 ? promise.get_future().get() : throwIfOdd(number);
}
static int sendIntoClosed(int number) {
  weft::Channel<int> channel(1);
  if (number == 1) {
    channel.close();
  }
  channel.send(0);
  return number;
}

// What the next use needs must not be kept by one that an exception has ended.
inline int numberOfMade = 0;
struct Made {
  Made() : number(throwIfOdd(numberOfMade)) {}
  int number;
};
static int borrowMade(int number) {
  static const weft::BoundedPool<Made, 1> pool;
  numberOfMade = number;
  return pool.borrow()->number;
}

static int callOnce(int number) {
  static std::optional<weft::Once> once;
  if (!once) {
    once.emplace();
  }
  once->call(ThrowIfOdd{number});
  once.reset();
  return number;
}

inline Made makeMade() { return Made(); }
static int makeLocal(int number) {
  static std::optional<weft::FiberLocal<Made>> local;
  if (!local) {
    local.emplace(makeMade);
  }
  numberOfMade = number;
  const int made = (*local)->number;
  local.reset();
  return made;
}

// Its move throws when none is left.
struct Passed {
  explicit Passed(int numMoves) : numMovesLeft(numMoves) {}
  Passed(Passed&& other) : numMovesLeft(other.numMovesLeft - 1) { throwIfOdd(numMovesLeft == 0 ? 1 : 0); }
  int numMovesLeft;
};
static int sendPassed(int number) {
  static const weft::Channel<Passed> channel(1);
  channel.send(Passed(number == 1 ? 1 : 1000));
  (void)channel.receive();
  return number;
}
static int receivePassed(int number) {
  static const weft::Channel<Passed> channel(1);
  channel.send(Passed(number == 1 ? 2 : 1000));
  (void)channel.receive();
  return number;
}

struct Source {
  int number;
  int numMade = 0;
  std::optional<int> operator()() {
    ++numMade;
    return numMade == 10 ? (throwIfOdd(number), std::nullopt) : std::optional<int>(numMade);
  }
};
struct Ignore {
  void operator()(int) const {}
};
static int runPipeline(int number) {
  weft::parallelPipeline(4, weft::serialStage(Source{number}), weft::parallelStage(Ignore()));
  return number;
}

constexpr int (*kUses[])(int) = {getFuture,  getShared,     waitForGroup,   joinTwo,
                                 loop,       callBlocking,  parallelizeTwo, continueFuture,
                                 getPromise, borrowMade,    callOnce,       makeLocal,
                                 sendPassed, receivePassed, runPipeline,    sendIntoClosed};

// Of the part without.
int usesWithoutException();
weft::Future<int> failingFuture();
weft::Future<int> failingCoroutine(weft::fair::TaskScheduler& scheduler);
void failPromise(weft::Promise<int>& promise);
void stopAsAsked(const std::stop_token& token);
