// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/cancellation.h>

#include <gtest/gtest.h>

#include <stop_token>
#include <string>

namespace weft {
namespace {

TEST(InterruptionPointTest, ReturnsWhileNobodyAskedToStop) {
  std::stop_source source;
  EXPECT_NO_THROW(interruptionPoint(source.get_token()));
  EXPECT_NO_THROW(interruptionPoint(std::stop_token()));
}

TEST(InterruptionPointTest, ThrowsTaskCanceledOnceSomebodyAskedToStop) {
  std::stop_source source;
  source.request_stop();
  try {
    interruptionPoint(source.get_token());
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_NE(dynamic_cast<const TaskCanceled*>(&error), nullptr);
    EXPECT_NE(std::string(error.what()).find("stop"), std::string::npos);
  }
}

}  // namespace
}  // namespace weft
