// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <weft/channel.h>
#include <weft/event.h>
#include <weft/select.h>
#include <weft/semaphore.h>
#include <weft/waitgroup.h>

#include "with_scheduler.h"

// What a handle does after it was moved from: each use ends the program with a message. It may be copied,
// assigned to and destroyed.
namespace weft {
namespace {

using namespace std::chrono_literals;

using MovedFromDeathTest = tests::DeathTest;

std::stop_token stopped() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

template <class Handle>
void expectDeaths(const char* what, const std::vector<std::function<void(const Handle&)>>& uses) {
  const std::string message =
      std::string(what) + " was used after it was moved from. Use the object it was moved to.";
  for (size_t i = 0; i < uses.size(); ++i) {
    SCOPED_TRACE(testing::Message() << what << ", use " << i);
    EXPECT_DEATH(
        {
          Handle handle;
          const Handle taken = std::move(handle);
          uses[i](handle);  // NOLINT(bugprone-use-after-move): that is what is tested
        },
        message);
  }
}

TEST_F(MovedFromDeathTest, EachUseOfAWaitGroupEndsTheProgram) {
  expectDeaths<WaitGroup>("a WaitGroup", {
                                             [](auto& group) { group.add(); },
                                             [](auto& group) { group.done(); },
                                             [](auto& group) { group.wait(); },
                                             [](auto& group) { (void)group.wait_for(1ms); },
                                             [](auto& group) { (void)group.wait(stopped()); },
                                             [](auto& group) { WaitGroup(group).done(); },
                                         });
}

TEST_F(MovedFromDeathTest, EachUseOfAnEventEndsTheProgram) {
  expectDeaths<Event>("an Event", {
                                      [](auto& event) { event.signal(); },
                                      [](auto& event) { event.clear(); },
                                      [](auto& event) { event.wait(); },
                                      [](auto& event) { (void)event.test(); },
                                      [](auto& event) { (void)event.isSignalled(); },
                                      [](auto& event) { (void)event.wait_for(1ms); },
                                      [](auto& event) { (void)event.wait(stopped()); },
                                      [](auto& event) { (void)Event::any(&event, &event + 1); },
                                      [](auto& event) { (void)select(onSignal(event, [] {})); },
                                  });
}

TEST_F(MovedFromDeathTest, EachUseOfASemaphoreEndsTheProgram) {
  expectDeaths<Semaphore>("a Semaphore", {
                                             [](auto& permits) { permits.acquire(); },
                                             [](auto& permits) { permits.release(); },
                                             [](auto& permits) { permits.acquire(2); },
                                             [](auto& permits) { (void)permits.try_acquire(); },
                                             [](auto& permits) { (void)permits.try_acquire(2); },
                                             [](auto& permits) { (void)permits.try_acquire_for(1ms); },
                                             [](auto& permits) { (void)permits.acquire(stopped()); },
                                         });
}

TEST_F(MovedFromDeathTest, EachUseOfAChannelEndsTheProgram) {
  expectDeaths<Channel<int>>(
      "a Channel", {
                       [](auto& numbers) { numbers.send(1); },
                       [](auto& numbers) { (void)numbers.trySend(1); },
                       [](auto& numbers) { (void)numbers.send_for(1, 1ms); },
                       [](auto& numbers) { (void)numbers.send(1, stopped()); },
                       [](auto& numbers) { (void)numbers.receive(); },
                       [](auto& numbers) { (void)numbers.tryReceive(); },
                       [](auto& numbers) { (void)numbers.receive(stopped()); },
                       [](auto& numbers) { (void)numbers.begin(); },
                       [](auto& numbers) { numbers.close(); },
                       [](auto& numbers) { (void)numbers.isClosed(); },
                       [](auto& numbers) { (void)numbers.size(); },
                       [](auto& numbers) { (void)numbers.capacity(); },
                       [](auto& numbers) { (void)select(onReceive(numbers, [](std::optional<int>) {})); },
                       [](auto& numbers) { (void)select(onSend(numbers, 1, [] {})); },
                   });
}

TEST(MovedFromTest, AMovedFromHandleMayBeCopiedAssignedAndDestroyed) {
  WaitGroup group(1);
  WaitGroup taken = std::move(group);
  const WaitGroup copy = group;  // NOLINT(bugprone-use-after-move): that is what is tested
  group = taken;
  EXPECT_TRUE(group.done());
  taken.wait();

  Event event;
  event = Event(std::move(event));
  event.signal();
  EXPECT_TRUE(event.test());
  Event other = std::move(event);
  std::swap(event, other);
  event.signal();
  EXPECT_TRUE(event.test());
}

}  // namespace
}  // namespace weft
