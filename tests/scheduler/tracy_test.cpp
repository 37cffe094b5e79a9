// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/tracy_stub.h"

#include <weft/tracy.h>

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/waitgroup.h>

namespace weft {
namespace {

class TracyTest : public testing::Test {
 protected:
  void SetUp() override {
    tracy_stub::fibers.clear();
    tracy_stub::strayZones.clear();
    weft::showFibersInTracy();
  }
  void TearDown() override {
    setFiberHooks(nullptr);
    for (const auto& [name, fiber] : tracy_stub::fibers) {
      EXPECT_FALSE(fiber.isEntered) << name;
      EXPECT_TRUE(fiber.zones.empty()) << name;
    }
  }
};

struct ServesTracy {
  void operator()() const {
    ZoneNamedN(serve, "serve", true);
    yield();
  }
};

TEST_F(TracyTest, ATaskIsALineThatIsCalledLikeItsFunction) {
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule(ServesTracy());
  schedule(ServesTracy());
  Scheduler::unbind();
  ASSERT_EQ(tracy_stub::fibers.size(), 2u);
  for (const auto& [name, fiber] : tracy_stub::fibers) {
    EXPECT_NE(fiber.text.find("ServesTracy"), std::string::npos) << fiber.text;
    EXPECT_EQ(fiber.text.find("+0x"), std::string::npos) << fiber.text;
    EXPECT_NE(fiber.text.find(" #"), std::string::npos) << fiber.text;
    EXPECT_EQ(fiber.numZones, 1);
  }
}

TEST_F(TracyTest, CodeOutsideOfTasksBelongsToItsThread) {
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule(ServesTracy());
  {
    ZoneNamedN(bound, "bound", true);
    yield();
  }
  Scheduler::unbind();
  EXPECT_EQ(tracy_stub::strayZones, std::set<std::string>{"bound"});
}

TEST_F(TracyTest, ZonesOfATaskRunInPlaceThatWaitsStayOnOneLine) {
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule([] {
    ZoneNamedN(outer, "outer", true);
    TaskGroup group;
    group.run([] {
      ZoneNamedN(inner, "inner", true);
      sleep_for(std::chrono::milliseconds(1));
    });
    group.wait();
  });
  Scheduler::unbind();
  EXPECT_EQ(tracy_stub::fibers.size(), 1u);
}

TEST_F(TracyTest, TasksOfManyWorkersKeepTheirLines) {
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(4));
  scheduler.bind();
  constexpr int kTasks = 1000;
  const WaitGroup done(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    schedule([done] {
      ServesTracy()();
      done.done();
    });
  }
  done.wait();
  Scheduler::unbind();
  int numZones = 0;
  for (const auto& [name, fiber] : tracy_stub::fibers) {
    numZones += fiber.numZones;
  }
  EXPECT_EQ(numZones, kTasks);
}

TEST_F(TracyTest, ThreadsThatComeAndGoTakeFewLines) {
  for (int i = 0; i < 50; ++i) {
    std::thread([] {
      Scheduler scheduler(Scheduler::Config{});
      scheduler.bind();
      schedule(ServesTracy());
      Scheduler::unbind();
    }).join();
  }
  EXPECT_EQ(tracy_stub::fibers.size(), 1u);
}

}  // namespace
}  // namespace weft
