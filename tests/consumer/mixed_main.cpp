// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <stdexcept>
#include <stop_token>

#include "mixed.h"

int throwIfOdd(int number) {
  if (number % 2 != 0) {
    throw std::out_of_range("odd");
  }
  return number;
}

weft::fair::Coro<int> throwIfOddLater(int number) {
  co_await weft::fair::yield();
  co_return throwIfOdd(number);
}

namespace {

int numFailed = 0;

// Expects that f() throws an Error.
template <class Error, class F>
void expectThrown(const char* what, const F& f) {
  try {
    (void)f();
  } catch (const Error&) {
    return;
  } catch (...) {
    std::fprintf(stderr, "%s: another exception\n", what);
    ++numFailed;
    return;
  }
  std::fprintf(stderr, "%s: no exception\n", what);
  ++numFailed;
}

void expect(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "%s\n", what);
    ++numFailed;
  }
}

void usesThatThrow() {
  for (size_t i = 0; i + 1 < std::size(kUses); ++i) {
    expect(kUses[i](2) == 2, "a use that throws nothing");
    expectThrown<std::out_of_range>("a use", [i] { return kUses[i](1); });
    expect(kUses[i](2) == 2, "a use after an exception");
  }
  expectThrown<weft::ChannelClosed>("send()", [] { return sendIntoClosed(1); });
}

void acrossTheParts() {
  expect(usesWithoutException() == 2 * static_cast<int>(std::size(kUses)), "the other part's uses");
  expectThrown<std::out_of_range>("a future of the other part", [] { return failingFuture().get(); });

  weft::Promise<int> typed;
  typed.set_exception(std::out_of_range("from here"));
  expectThrown<std::out_of_range>("a promise", [&] { return typed.get_future().get(); });
  weft::Promise<int> promise;
  failPromise(promise);
  expectThrown<std::runtime_error>("a promise of the other part", [&] { return promise.get_future().get(); });

  std::stop_source source;
  source.request_stop();
  expectThrown<weft::TaskCanceled>("a task that ends as asked", [&] {
    return weft::async([&] { stopAsAsked(source.get_token()); }).get();
  });

  weft::fair::TaskScheduler fair("mixed", 1);
  expectThrown<std::out_of_range>("a coroutine of the other part",
                                  [&] { return failingCoroutine(fair).get(); });
  expectThrown<std::out_of_range>("a coroutine",
                                  [&] { return weft::fair::async(fair, throwIfOddLater(1)).get(); });
  expect(weft::fair::async(fair, throwIfOddLater(2)).get() == 2, "a coroutine that throws nothing");
}

}  // namespace

int main() {
  for (int workers : {0, 4}) {
    weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(workers));
    scheduler.bind();
    usesThatThrow();
    acrossTheParts();
    scheduler.unbind();
  }
  if (numFailed == 0) {
    std::puts("mixed: ok");
  }
  return numFailed == 0 ? 0 : 1;
}
