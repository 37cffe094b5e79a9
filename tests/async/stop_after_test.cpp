// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <weft/cancellation.h>
#include <weft/future.h>
#include <weft/future/stop_after.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "with_scheduler.h"

// StopAfter.
namespace weft {
namespace stop_after_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using tests::scaled;

class StopAfterTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(StopAfterTest);

TEST_P(StopAfterTest, EndsAWaitOnceTheTimeHasCome) {
  const StopAfter limit(milliseconds(2));
  EXPECT_FALSE(sleep_for(hours(24), limit.token()));
  EXPECT_TRUE(limit.source().stop_requested());
}

TEST_P(StopAfterTest, EndsAtAStopOfItsParent) {
  std::stop_source parent;
  const StopAfter outer(hours(24), parent.get_token());
  const StopAfter inner(hours(24), outer.token());
  EXPECT_FALSE(inner.token().stop_requested());
  parent.request_stop();
  EXPECT_TRUE(outer.token().stop_requested() && inner.token().stop_requested());
  EXPECT_TRUE(StopAfter(hours(24), parent.get_token()).token().stop_requested()) << "of a stop before";
}

TEST_P(StopAfterTest, RequestsNoStopOnceItIsGone) {
  std::stop_source parent;
  std::optional<StopAfter> limit(std::in_place, hours(24), parent.get_token());
  const std::stop_token token = limit->token();
  limit.reset();
  parent.request_stop();
  EXPECT_FALSE(token.stop_requested());
}

TEST_P(StopAfterTest, NoStopIsRequestedAfterItsEnd) {
  std::vector<std::pair<std::stop_token, bool>> ended;
  for (int round = 0; round < scaled(20'000, 2000); ++round) {
    std::optional<StopAfter> limit(std::in_place, std::chrono::microseconds(round % 40));
    const std::stop_token token = limit->token();
    limit.reset();
    ended.emplace_back(token, token.stop_requested());
  }
  for (const auto& [token, wasRequested] : ended) {
    EXPECT_EQ(token.stop_requested(), wasRequested);
  }
}

// Whatever comes first, nothing may be used that is gone, and nothing changes afterwards.
TEST_P(StopAfterTest, MayEndWhileItsTimeAndAStopOfItsParentCome) {
  std::vector<std::pair<std::stop_token, bool>> ended;
  const WaitGroup stopped;
  for (int round = 0; round < scaled(500, 50); ++round) {
    std::stop_source parent;
    std::optional<StopAfter> limit(std::in_place, std::chrono::microseconds(round % 50), parent.get_token());
    stopped.add();
    schedule([parent, stopped]() mutable {
      parent.request_stop();
      stopped.done();
    });
    const std::stop_token token = limit->token();
    limit.reset();
    ended.emplace_back(token, token.stop_requested());
  }
  stopped.wait();
  for (const auto& [token, wasRequested] : ended) {
    EXPECT_EQ(token.stop_requested(), wasRequested);
  }
}

}  // namespace stop_after_test
}  // namespace weft
