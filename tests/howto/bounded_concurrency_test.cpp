// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.h>

#include "with_scheduler.h"

// The examples of docs/howto/bounded_concurrency.md.
namespace howto_bounded_concurrency {
namespace {

std::atomic<int> numFetching{0}, mostFetching{0}, numFetched{0};

void fetch(const std::string& url) {
  const int number = ++numFetching;
  int most = mostFetching;
  while (most < number && !mostFetching.compare_exchange_weak(most, number)) {
  }
  weft::yield();
  --numFetching;
  ++numFetched;
  if (url == "broken") {
    throw std::runtime_error(url);
  }
}

void fetchAll(const std::vector<std::string>& urls) {
  weft::TaskGroup group(weft::TaskGroup::Limit{8});
  for (const std::string& url : urls) {
    group.run([&url] { fetch(url); });
    if (group.isCanceled()) {
      break;  // a fetch has thrown
    }
  }
  group.wait();  // throws what a fetch has thrown
}

const weft::Semaphore connections(8);

std::string query(const std::string& text) {
  const auto permit = connections.hold();
  return "answer to " + text;
}

struct Tile {
  int numRendered = 0;
};
void render(Tile& tile) { ++tile.numRendered; }

void renderAll(std::vector<Tile>& tiles) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(3));
  weft::Scheduler::Binding bound(scheduler);
  weft::parallelFor(tiles, [](Tile& tile) { render(tile); });  // on this thread and 3 more
}

class HowtoBoundedConcurrencyTest : public weft::tests::WithScheduler {
 protected:
  void SetUp() override {
    WithScheduler::SetUp();
    numFetching = mostFetching = numFetched = 0;
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(HowtoBoundedConcurrencyTest);

TEST_P(HowtoBoundedConcurrencyTest, NoMoreThanEightTasksRunAtATime) {
  fetchAll(std::vector<std::string>(100, "url"));
  EXPECT_EQ(numFetched, 100);
  EXPECT_LE(mostFetching, 8);
}

TEST_P(HowtoBoundedConcurrencyTest, AnExceptionEndsTheLoop) {
  EXPECT_THROW(fetchAll(std::vector<std::string>(100, "broken")), std::runtime_error);
  EXPECT_LT(numFetched, 100);
}

TEST_P(HowtoBoundedConcurrencyTest, AQueryTakesAConnection) { EXPECT_EQ(query("x"), "answer to x"); }

TEST(HowtoParallelForTest, RendersEachTileOnce) {
  std::vector<Tile> tiles(100);
  renderAll(tiles);
  for (const Tile& tile : tiles) {
    EXPECT_EQ(tile.numRendered, 1);
  }
}

}  // namespace
}  // namespace howto_bounded_concurrency
