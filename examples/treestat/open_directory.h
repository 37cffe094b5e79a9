// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <dirent.h>

#include <memory>
#include <string>
#include <utility>

namespace treestat {

// An open directory. All readers of its files share it, and the last one closes it.
class OpenDirectory {
 public:
  // Opens `path`, of any length. Does not follow a link, unless `path` ends in a slash. Returns: null with
  // errno set on failure.
  static std::shared_ptr<OpenDirectory> open(std::string path);

  OpenDirectory(std::string path, DIR* stream) : path_(std::move(path)), stream_(stream) {}
  ~OpenDirectory() { closedir(stream_); }
  OpenDirectory(const OpenDirectory&) = delete;
  OpenDirectory& operator=(const OpenDirectory&) = delete;

  // Returns: the next entry but "." and ".."; null at the end with errno zero, on failure with errno set.
  const dirent* next();

  // Returns: the path of the entry `name`.
  std::string pathOf(const std::string& name) const {
    return path_ + (path_.back() == '/' ? "" : "/") + name;
  }
  const std::string& path() const { return path_; }
  int fd() const { return dirfd(stream_); }

 private:
  const std::string path_;
  DIR* const stream_;
};

}  // namespace treestat
