// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include <weft/trace.h>

#include "temporary_folder.h"

// The examples of docs/tracing.md and weft/trace.h, word for word.

namespace {

namespace tracing_page {

void draw() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(17);
  while (std::chrono::steady_clock::now() < end) {
  }
}

// A frame is a slice in the picture. What was recorded until a frame was late becomes a file.
void drawFrame(int numQueued) {
  const auto begin = std::chrono::steady_clock::now();
  {
    const weft::trace::Scope scope("frame");
    weft::trace::counter("queued", numQueued);
    draw();
  }
  if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(16)) {
    weft::trace::mark("late");
    weft::trace::dump("late.pftrace");
  }
}

[[maybe_unused]] void catchLongRuns() {
  using namespace std::chrono_literals;
  weft::trace::start({.path = "late.pftrace", .longestRun = 50ms});
}

}  // namespace tracing_page

TEST(TracingPageTest, WritesAFileForALateFrame) {
  const auto former = std::filesystem::current_path();
  const weft::tests::TemporaryFolder folder;
  std::filesystem::current_path(folder.path());
  ASSERT_TRUE(weft::trace::start());
  tracing_page::drawFrame(3);
  weft::trace::stop();
  EXPECT_TRUE(std::filesystem::exists("late.pftrace"));
  std::filesystem::current_path(former);
}

}  // namespace
