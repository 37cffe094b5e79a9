// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "io/io_pairs.h"
#include "waiting.h"
#include "with_scheduler.h"

// Streams whose reads and writes are ended by deadlines and stops at random moments: no byte is lost, doubled
// or out of order.
namespace weft {
namespace {

using std::chrono::microseconds;

// Operations in all; the environment may ask for more.
int numOperations() {
  const char* const asked = std::getenv("WEFT_IO_OPERATIONS");
  return asked != nullptr ? std::atoi(asked) : tests::scaled(100'000, 20'000);
}

// The byte at a place of the stream.
std::byte byteAt(uint64_t place) {
  uint64_t mixed = (place + 1) * 0x9e3779b97f4a7c15u;
  mixed ^= mixed >> 29;
  return static_cast<std::byte>(mixed >> 40);
}

// A stop that somebody else requests at any moment, again and again.
class Stops {
 public:
  std::stop_token token() {
    const std::scoped_lock guard(lock_);
    if (source_.stop_requested()) {
      source_ = std::stop_source();
    }
    return source_.get_token();
  }
  void request() {
    std::stop_source current;
    {
      const std::scoped_lock guard(lock_);
      current = source_;
    }
    current.request_stop();
  }

 private:
  std::mutex lock_;
  std::stop_source source_;
};

struct Stream {
  tests::Ends ends;
  Stops readStops, writeStops;
  uint64_t written = 0, read = 0;
  std::atomic<uint64_t> numEnded{0};  // waits that a deadline or a stop has ended
  std::atomic<int> numWorking{2};
};

// Limits as they come: none, a deadline that has passed or comes soon, a stop, or both.
io::Wait randomLimits(std::mt19937& random, Stops& stops) {
  io::Wait limits;
  const auto kind = random() % 5;
  if (kind == 1) {
    limits.deadline = io::TimePoint::min();
  } else if (kind >= 3) {
    limits.deadline = io::TimePoint::clock::now() + microseconds(random() % 50);
  }
  if (kind == 2 || kind == 4) {
    limits.stop = stops.token();
  }
  return limits;
}

void expectOnlyLimits(const std::error_code& error, Stream& stream) {
  if (error) {
    EXPECT_TRUE(error == std::errc::timed_out || error == std::errc::operation_canceled) << error.message();
    ++stream.numEnded;
  }
}

void writeStream(Stream& stream, int operations, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> data(20'000);
  // Until a wait was ended there is nothing that bytes could be lost by.
  for (int i = 0; i < operations || stream.numEnded == 0; ++i) {
    const size_t size = 1 + random() % (random() % 8 == 0 ? data.size() : 200);
    for (size_t place = 0; place < size; ++place) {
      data[place] = byteAt(stream.written + place);
    }
    std::error_code error;
    const io::Wait limits = randomLimits(random, stream.writeStops);
    stream.written += io::write(stream.ends.writer.get(), std::span(data).first(size), error, limits);
    expectOnlyLimits(error, stream);
  }
  stream.ends.writer.reset();
  --stream.numWorking;
}

void readStream(Stream& stream, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> buffer(20'000);
  bool isRight = true;
  for (;;) {
    const size_t size = 1 + random() % buffer.size();
    std::error_code error;
    const io::Wait limits = randomLimits(random, stream.readStops);
    const size_t count = io::read(stream.ends.reader.get(), std::span(buffer).first(size), error, limits);
    expectOnlyLimits(error, stream);
    if (count == 0 && !error) {
      break;
    }
    for (size_t place = 0; place < count; ++place) {
      isRight = isRight && buffer[place] == byteAt(stream.read + place);
    }
    stream.read += count;
  }
  EXPECT_TRUE(isRight);
  --stream.numWorking;
}

class IoBytesTest : public tests::WithScheduler {};

TEST_P(IoBytesTest, NoByteIsLostOrDoubledUnderRandomDeadlinesAndStops) {
  constexpr int kStreams = 6;
  const int operations = numOperations() / kStreams / 6;  // there are six numbers of workers
  std::array<Stream, kStreams> streams;
  {
    tests::Crew crew(scheduler());
    for (uint32_t i = 0; i < kStreams; ++i) {
      Stream& stream = streams[i];
      stream.ends = tests::makeEnds(tests::kPairKinds[i % 4]);
      crew.start(tests::kindOf(static_cast<int>(i)),
                 [&stream, operations, i] { writeStream(stream, operations, i); });
      crew.start(tests::kindOf(static_cast<int>(i) / 2), [&stream, i] { readStream(stream, 100 + i); });
      // At any moment of the waits, from another thread.
      crew.start(tests::Kind::FreeThread, [&stream, i] {
        std::mt19937 random(200 + i);
        while (stream.numWorking != 0) {
          (random() % 2 == 0 ? stream.readStops : stream.writeStops).request();
          std::this_thread::sleep_for(microseconds(random() % 100));
        }
      });
    }
  }
  for (const Stream& stream : streams) {
    EXPECT_EQ(stream.read, stream.written);
  }
}

WEFT_INSTANTIATE_WITH_SCHEDULER(IoBytesTest);

}  // namespace
}  // namespace weft
