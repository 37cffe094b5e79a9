// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace weft::tests {

// A new folder, which goes with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "weft_XXXXXX").string()) {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A new folder that a death test shares with its processes: they run the test from the beginning, and get the
// path by the environment. It goes with the test's own process.
class SharedTemporaryFolder {
 public:
  SharedTemporaryFolder() {
    if (std::getenv(kVariable) == nullptr) {
      own_.emplace();
      ::setenv(kVariable, own_->path().c_str(), 1);
    }
  }
  ~SharedTemporaryFolder() {
    if (own_) {
      ::unsetenv(kVariable);
    }
  }
  SharedTemporaryFolder(const SharedTemporaryFolder&) = delete;
  SharedTemporaryFolder& operator=(const SharedTemporaryFolder&) = delete;

  std::string path() const { return std::getenv(kVariable); }

 private:
  static constexpr const char* kVariable = "WEFT_TEST_FOLDER";
  std::optional<TemporaryFolder> own_;
};

// Returns: all that the file has; nothing if there is no such file.
inline std::string contentsOf(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Writes a file, and makes the folders on the way to it.
inline void writeFile(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

}  // namespace weft::tests
