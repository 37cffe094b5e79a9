// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The code of docs/howto/plugins.md. tests/scheduler/unloading_test.cpp loads and unloads libraries.

#include <gtest/gtest.h>

#include <memory>

#include <weft/future.h>
#include <weft/scheduler.h>

namespace {

int answer() { return 42; }

std::unique_ptr<weft::Scheduler> pluginScheduler;  // empty when dlclose() destroys it

extern "C" void pluginBegin() {
  pluginScheduler = std::make_unique<weft::Scheduler>(weft::Scheduler::Config().setWorkerThreadCount(2));
}

extern "C" int pluginCompute() {
  return weft::async(*pluginScheduler, [] { return answer(); }).get();
}

extern "C" void pluginEnd() {
  pluginScheduler.reset();  // waits for all its tasks; to be called before dlclose()
}

TEST(PluginsHowtoTest, APluginEndsItsSchedulerInACall) {
  for (int round = 0; round < 2; ++round) {
    pluginBegin();
    EXPECT_EQ(pluginCompute(), 42);
    pluginEnd();
  }
}

}  // namespace
