// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/timeline_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "hand_made.h"
#include "made_recording.h"
#include "temporary_folder.h"

namespace timeline_file_test {
namespace {

using weft::detail::inspect::TimelineFileResult;
using weft::detail::inspect::TimelineFormat;
using weft::tests::MadeRecording;

TimelineFileResult writeTo(const std::string& path) {
  MadeRecording made;
  made.thread();
  made.at(10).add(weft::detail::inspect::TraceKind::Mark, "here");
  weft::tests::FakeNames names;
  return writeTimelineFileAt(path.c_str(), made.recording, names, made.memory, TimelineFormat::ChromeJson);
}

TEST(TimelineFileTest, ReplacesWhatTheFileHad) {
  const weft::tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/a.json";
  std::ofstream(path) << std::string(100'000, 'x');
  const TimelineFileResult result = writeTo(path);
  EXPECT_EQ(result.failed, TimelineFileResult::Failed::Nothing);
  EXPECT_EQ(result.error, 0);
  const std::string text = weft::tests::contentsOf(path);
  EXPECT_NE(text.find("\"here\""), std::string::npos);
  EXPECT_TRUE(text.ends_with("}}\n"));
}

TEST(TimelineFileTest, TellsWhatFailedAndWhy) {
  const TimelineFileResult open = writeTo("/nonexistent/a.json");
  EXPECT_EQ(open.failed, TimelineFileResult::Failed::Open);
  EXPECT_EQ(open.error, ENOENT);
  const TimelineFileResult write = writeTo("/dev/full");
  EXPECT_EQ(write.failed, TimelineFileResult::Failed::Write);
  EXPECT_EQ(write.error, ENOSPC);
}

}  // namespace
}  // namespace timeline_file_test
