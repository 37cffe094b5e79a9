// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// On one thread: across threads Boost.Fiber's channels wake by condition variable, since its fibers stay where they are. It has
// no select.

#include <boost/fiber/all.hpp>

#include "problem.h"

namespace {

int64_t roundTrips(int64_t rounds) {
  boost::fibers::unbuffered_channel<int64_t> ping, pong;
  int64_t replies = 0;
  boost::fibers::fiber partner([&] {
    for (const int64_t value : ping) {
      replies++;
      pong.push(value);
    }
  });
  for (int64_t i = 0; i < rounds; i++) {
    ping.push(i);
    pong.value_pop();
  }
  ping.close();
  partner.join();
  return replies;
}

// Boost's buffer has room for one value less than its size, which is a power of two.
template <size_t kCapacity>
int64_t stream(int64_t count) {
  boost::fibers::buffered_channel<int64_t> values(kCapacity);
  int64_t sum = 0;
  boost::fibers::fiber receiver([&] {
    for (const int64_t value : values) {
      sum += value;
    }
  });
  for (int64_t i = 0; i < count; i++) {
    values.push(i);
  }
  values.close();
  receiver.join();
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "channel", "boost_fiber",
                        {{"ping-pong", {1}, [](bench::Run& r) { channel::measurePingPong(r, roundTrips); }},
                         {"stream-128", {1}, [](bench::Run& r) { channel::measureStream(r, stream<128>); }},
                         {"stream-1024", {1}, [](bench::Run& r) { channel::measureStream(r, stream<1024>); }}});
}
