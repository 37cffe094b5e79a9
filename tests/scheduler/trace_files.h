// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include <weft/trace.h>

#include "json_reader.h"
#include "temporary_folder.h"
#include "waiting.h"

// What tests of the files share that the flight recorder writes by itself.
namespace weft::tests {

inline bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

inline bool isWholeJson(const std::string& path) {
  const std::string text = contentsOf(path);
  return !text.empty() && JsonReader(text).isValid();
}

class TraceFilesTest : public testing::Test {
 protected:
  TraceFilesTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  ~TraceFilesTest() override { trace::stop(); }

  std::string path(const char* name = "late.json") const { return folder_.path() + "/" + name; }

 private:
  SharedTemporaryFolder folder_;
};

}  // namespace weft::tests
