// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/phrases.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "hand_made.h"

namespace {

using namespace std::chrono_literals;

using weft::detail::inspect::Fiber;
using weft::detail::inspect::ObjectState;
using weft::detail::inspect::Phrases;
using weft::detail::inspect::Text;
using weft::tests::FakeNames;
using weft::tests::HandMade;
using weft::tests::textOf;

std::string written(std::chrono::nanoseconds duration) {
  return textOf([duration](Text& out) { writeDuration(out, duration); });
}

std::string written(std::chrono::nanoseconds shortest, std::chrono::nanoseconds longest) {
  return textOf([=](Text& out) { writeDurations(out, shortest, longest); });
}

TEST(PhrasesTest, WritesDurationsInUnitsForPeople) {
  EXPECT_EQ(written(0ns), "0 us");
  EXPECT_EQ(written(-1s), "0 us");
  EXPECT_EQ(written(999ns), "0.9 us");
  EXPECT_EQ(written(40us), "40 us");
  EXPECT_EQ(written(999'999ns), "999 us");
  EXPECT_EQ(written(1ms), "1 ms");
  EXPECT_EQ(written(9990us), "9.9 ms");
  EXPECT_EQ(written(3200ms), "3.2 s");
  EXPECT_EQ(written(119'999ms), "119 s");
  EXPECT_EQ(written(2min), "2 min");
  EXPECT_EQ(written(150s), "2.5 min");
  EXPECT_EQ(written(2h), "2 h");
  EXPECT_EQ(written(47h), "47 h");
  EXPECT_EQ(written(48h), "2 days");
  EXPECT_EQ(written(std::chrono::nanoseconds::max()), "106751 days");
}

TEST(PhrasesTest, WritesRangesOfDurationsShort) {
  EXPECT_EQ(written(3s, 9s), "3 to 9 s");
  EXPECT_EQ(written(9001ms, 9040ms), "9 s");
  EXPECT_EQ(written(40us, 3200ms), "40 us to 3.2 s");
}

TEST(PhrasesTest, WritesTimesInUtc) {
  const auto time = [](int64_t seconds) {
    return textOf([seconds](Text& out) { weft::detail::inspect::writeTime(out, seconds); });
  };
  EXPECT_EQ(time(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(time(1'709'251'199), "2024-02-29T23:59:59Z");
}

TEST(PhrasesTest, WritesCounts) {
  const auto count = [](uint64_t number) {
    return textOf([number](Text& out) { weft::detail::inspect::writeCount(out, number, "fiber"); });
  };
  EXPECT_EQ(count(0), "0 fibers");
  EXPECT_EQ(count(1), "1 fiber");
  EXPECT_EQ(count(99'812), "99,812 fibers");
}

std::string objectWith(std::string_view what, const ObjectState& state, uint32_t numWaiters = 0,
                       uint32_t numOpposite = 0) {
  HandMade made;
  made.scheduler(0x5000);
  made.worker(0, 4712);
  Fiber& fiber = made.blocked(1, 'A', what, 0x100, 1s);
  fiber.objectState = state;
  fiber.numWaiters = numWaiters;
  fiber.numOpposite = numOpposite;
  FakeNames names;
  return textOf([&](Text& out) { Phrases(out, made.snapshot, names).objectAndState(fiber); });
}

TEST(PhrasesTest, WritesWhatAnObjectHolds) {
  using enum ObjectState::Kind;
  EXPECT_EQ(objectWith("Semaphore", {}), "Semaphore 0x100");
  EXPECT_EQ(objectWith("WaitGroup", {.kind = Count, .count = 1234}), "WaitGroup 0x100 (count 1,234)");
  EXPECT_EQ(objectWith("Barrier", {.kind = Arrivals, .count = 2}), "Barrier 0x100 (2 still to arrive)");
  EXPECT_EQ(objectWith("SharedMutex", {.kind = Readers, .count = 0}), "SharedMutex 0x100");
  EXPECT_EQ(objectWith("SharedMutex", {.kind = Readers, .count = 2}),
            "SharedMutex 0x100 (held by 2 readers)");
  EXPECT_EQ(objectWith("Event", {.kind = Event}), "Event 0x100 (not signalled, Mode::Auto)");
  EXPECT_EQ(objectWith("Channel::receive", {.kind = Values, .isClosed = true}),
            "Channel::receive 0x100 (no buffer, closed)");
  EXPECT_EQ(objectWith("Channel::send", {.kind = Values, .count = 8, .capacity = 8}),
            "Channel::send 0x100 (8 of 8 values)");
}

TEST(PhrasesTest, SaysThatNobodyIsAtTheOtherSideOfAChannel) {
  using enum ObjectState::Kind;
  const ObjectState full{.kind = Values, .count = 8, .capacity = 8};
  EXPECT_EQ(objectWith("Channel::send", full, 3),
            "Channel::send 0x100 (8 of 8 values; no fiber waits to receive)");
  EXPECT_EQ(objectWith("Channel::send", full, 3, 1), "Channel::send 0x100 (8 of 8 values)");
  EXPECT_EQ(objectWith("Channel::receive", {.kind = Values}, 1),
            "Channel::receive 0x100 (no buffer; no fiber waits to send)");
  EXPECT_EQ(objectWith("Channel::receive", full, 1), "Channel::receive 0x100 (8 of 8 values)");
  EXPECT_EQ(objectWith("Channel::receive", {.kind = Values, .isClosed = true}, 1),
            "Channel::receive 0x100 (no buffer, closed)");
}

}  // namespace
