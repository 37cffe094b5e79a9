// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/trace.h>

#include <gtest/gtest.h>

#include <string>

#include <weft/fair/task.h>
#include <weft/fair/task_scheduler.h>
#include <weft/signal.h>

#include "temporary_folder.h"

namespace weft::inline v0_1::fair {
namespace {

struct CountWords {
  Signal* done;
  void operator()() const { done->send(); }
};

// The thread begins to record before its first step if the recorder does so before the scheduler is made.
TEST(FairRecordingTest, AStepIsASliceOnTheRowOfItsThread) {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/steps.json";
  ASSERT_TRUE(trace::start());
  {
    Signal done;
    Task task{CountWords{&done}};
    TaskScheduler scheduler("words", 1);
    scheduler.post(&task);
    done.receiveBlocking();
  }
  trace::stop();
  ASSERT_TRUE(trace::dump(path.c_str()));
  const std::string picture = tests::contentsOf(path);
  EXPECT_NE(picture.find("\"name\":\"weft::fair::(anonymous namespace)::CountWords"), std::string::npos)
      << picture;
}

}  // namespace
}  // namespace weft::inline v0_1::fair
