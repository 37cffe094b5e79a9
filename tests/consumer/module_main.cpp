// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// An application that imports weft. Macros come from their headers.

#include <weft/defer.h>

#include <sys/socket.h>

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <optional>
#include <vector>

import weft.io;

namespace {

weft::fair::Coro<int> sumOf(int first, int second) {
  co_await weft::fair::yield();
  co_return first + second;
}

int viaFair() {
  weft::fair::TaskScheduler fair("fair", 1);
  return weft::fair::async(fair, sumOf(19, 2)).get();
}

int viaLocksAndChannels() {
  weft::Channel<int> channel(1);
  weft::mutex mutex;
  int sum = 0;
  weft::TaskGroup group;
  for (int i = 0; i < 7; ++i) {
    group.run([&] {
      const weft::lock held(mutex);
      ++sum;
    });
  }
  group.wait();
  weft::schedule([&channel, sum] {
    defer(channel.close());
    channel.send(sum);
  });
  int received = 0;
  weft::select(weft::onReceive(channel, [&](std::optional<int> value) { received = value.value_or(0); }));
  return received;
}

int viaLoops() {
  std::vector<int> numbers(100);
  weft::parallelFor(size_t{0}, numbers.size(), [&](size_t i) { numbers[i] = static_cast<int>(99 - i); });
  weft::parallelSort(numbers.begin(), numbers.end());
  return weft::async([&] { return numbers[10]; }).then([](int number) { return number + 1; }).get();
}

int viaSockets() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    return 0;
  }
  const weft::io::UniqueFd first(ends[0]), second(ends[1]);
  std::array<std::byte, 1> sent{std::byte{3}}, received{};
  weft::schedule([&] { weft::io::write(first.get(), sent); });
  weft::io::read(second.get(), received);
  return std::to_integer<int>(received[0]);
}

}  // namespace

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  weft::Scheduler::Binding bound(scheduler);
  const int sum = viaFair() + viaLocksAndChannels() + viaLoops() + viaSockets();
  std::printf("module_main: %d\n", sum);
  return sum == 21 + 7 + 11 + 3 ? 0 : 1;
}
