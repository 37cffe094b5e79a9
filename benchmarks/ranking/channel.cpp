// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Ten million numbers through one channel, with half of the threads as producers and half as consumers:
// channel [threads] [elements]

#include <algorithm>
#include <vector>

#include "common.h"

struct Received {
  size_t count = 0;
  size_t sum = 0;
};

// Sends the numbers below `elements` from `sides` tasks to as many. Returns: what has arrived.
static Received pass(size_t elements, size_t sides) {
  weft::Channel<size_t> channel(1024);
  std::vector<Received> received(sides);
  weft::TaskGroup consumers, producers;
  for (Received& mine : received) {
    consumers.run([channel, &mine] {
      Received own;
      for (const size_t value : channel) {
        own.count++;
        own.sum += value;
      }
      mine = own;
    });
  }
  for (size_t i = 0; i < sides; i++) {
    producers.run([channel, value = elements * i / sides, end = elements * (i + 1) / sides]() mutable {
      for (; value < end; value++) {
        channel.send(value);
      }
    });
  }
  producers.wait();
  channel.close();
  consumers.wait();
  Received total;
  for (const Received& one : received) {
    total.count += one.count;
    total.sum += one.sum;
  }
  return total;
}

int main(int argc, char** argv) {
  const size_t threads = ranking::threadsOf(argc, argv, 1);
  const size_t elements = ranking::argument(argc, argv, 2, 10000000);
  const size_t sides = std::max<size_t>(threads / 2, 1);
  std::printf("producers: %zu\nconsumers: %zu\n", sides, sides);
  ranking::Runtime runtime(threads);
  Received total;
  const auto compute = [&] {
    total = runtime.run([=] { return pass(elements, sides); });
    ranking::check("channel: elements", total.count, elements);
    ranking::check("channel: sum", total.sum, elements * (elements - 1) / 2);
  };
  compute();  // warms up
  const size_t us = ranking::microsecondsOf(compute);
  std::printf("output: %zu\n", total.sum);
  ranking::reportRate(us, "elements", elements);
}
