// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/report/stack_report.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::inline v0_1::detail {
namespace {

const void* taskAt(uintptr_t address) { return reinterpret_cast<const void*>(address); }

std::string printed(StackReport& report) {
  testing::internal::CaptureStderr();
  report.print();
  return testing::internal::GetCapturedStderr();
}

TEST(StackReportTest, PrintsNothingWithoutTasks) {
  static StackReport report;
  EXPECT_EQ(printed(report), "");
}

TEST(StackReportTest, PrintsTheDeepestRunOfEachTaskDeepestFirst) {
  static StackReport report;
  report.add(taskAt(0x1000), 5'000, 100'000);
  report.add(taskAt(0x2000), 60'000, 100'000);
  report.add(taskAt(0x1000), 25'000, 50'000);
  report.add(taskAt(0x1000), 7'000, 100'000);
  EXPECT_EQ(printed(report),
            "weft: deepest stacks by task, 2 of 2:\n"
            "       bytes  of stack        runs  task\n"
            "       60000    60.0 %           1  0x2000\n"
            "       25000    50.0 %           3  0x1000\n");
}

TEST(StackReportTest, ShowsTwentyAndSaysHowManyRunsFoundNoRow) {
  static StackReport report;
  for (size_t i = 1; i <= StackReport::kMaxTasks + 5; ++i) {
    report.add(taskAt(i), i, 4096);
  }
  report.add(taskAt(1), 1, 4096);
  const std::string text = printed(report);
  EXPECT_NE(text.find("20 of 1000:\n"), std::string::npos) << text;
  EXPECT_NE(text.find("        1000    24.4 %           1  0x3e8\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("         980 "), std::string::npos) << text;
  EXPECT_NE(text.find("  5 runs of other tasks are left out"), std::string::npos) << text;
}

}  // namespace
}  // namespace weft::inline v0_1::detail
