// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A tree of text files, the same in each run, in a folder of its own that goes with it.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "harness.h"

namespace bench {

// What a tree of files holds.
struct Contents {
  uint64_t files = 0;
  uint64_t lines = 0;
  uint64_t words = 0;
  uint64_t bytes = 0;

  bool operator==(const Contents&) const = default;
};

// The sizes have a heavy tail: half of the files are smaller than twice the smallest size, and a few hold a
// large part of all bytes.
struct TreeShape {
  size_t directories;
  size_t filesInEach;
  size_t smallest;
  size_t largest;
};

class TemporaryTree {
 public:
  // Makes the tree in a new folder.
  explicit TemporaryTree(const TreeShape& shape) {
    const char* parent = std::getenv("TMPDIR");
    root_ = std::string(parent != nullptr ? parent : "/tmp") + "/weft-tree-XXXXXX";
    check(mkdtemp(root_.data()) != nullptr, "mkdtemp");
    // Each directory but the first lies in one that was made before it, so that some are deep.
    std::vector<std::string> directories;
    for (size_t i = 0; i < shape.directories; i++) {
      directories.push_back(i == 0 ? root_ : directories[random_() % i] + "/d" + std::to_string(i));
      std::filesystem::create_directories(directories.back());
    }
    for (size_t i = 0; i < shape.directories * shape.filesInEach; i++) {
      const std::string path = directories[i / shape.filesInEach] + "/f" + std::to_string(i) + kTypes[i % 4];
      writeFile(path, sizeOf(shape));
    }
  }
  ~TemporaryTree() { std::filesystem::remove_all(root_); }
  TemporaryTree(const TemporaryTree&) = delete;
  TemporaryTree& operator=(const TemporaryTree&) = delete;

  const std::string& root() const { return root_; }
  const std::vector<std::string>& paths() const { return paths_; }

  // What was written, as counted while it was.
  const Contents& contents() const { return contents_; }

 private:
  static constexpr const char* kTypes[] = {".cpp", ".h", ".txt", ""};

  // A share of (smallest / size) of the files is larger than `size`.
  size_t sizeOf(const TreeShape& shape) {
    const double share = (static_cast<double>(random_() % 1'000'000) + 1) / 1'000'000;
    return static_cast<size_t>(
        std::min(static_cast<double>(shape.smallest) / share, static_cast<double>(shape.largest)));
  }

  // Words of 1 to 10 letters, and a newline after each tenth or so.
  void writeFile(const std::string& path, size_t size) {
    std::string text;
    while (text.size() < size) {
      uint64_t bits = random_();
      for (uint64_t length = 1 + bits % 10; length > 0; length--) {
        bits /= 10;
        text += static_cast<char>('a' + bits % 10);
      }
      const bool isEnd = random_() % 10 == 0;
      text += isEnd ? '\n' : ' ';
      contents_.lines += isEnd;
      contents_.words++;
    }
    contents_.files++;
    contents_.bytes += text.size();
    std::ofstream(path, std::ios::binary) << text;
    paths_.push_back(path);
  }

  std::mt19937_64 random_{1};
  std::string root_;
  std::vector<std::string> paths_;
  Contents contents_;
};

}  // namespace bench
