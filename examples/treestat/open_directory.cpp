// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "open_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string_view>

namespace treestat {
namespace {

// Opens a directory for listing. A path that is longer than the system takes at once is opened piece by
// piece.
int openDirectoryFd(const std::string& path) {
  int at = AT_FDCWD;
  size_t begin = 0;
  while (path.size() - begin >= PATH_MAX) {
    const size_t slash = path.rfind('/', begin + PATH_MAX - 1);
    const std::string piece = path.substr(begin, slash - begin);
    const int next = openat(at, piece.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at != AT_FDCWD) {
      close(at);
    }
    if (next < 0) {
      return -1;
    }
    at = next;
    begin = slash + 1;
  }
  const int fd = openat(at, path.c_str() + begin, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (at != AT_FDCWD) {
    close(at);
  }
  return fd;
}

}  // namespace

std::shared_ptr<OpenDirectory> OpenDirectory::open(std::string path) {
  const int fd = openDirectoryFd(path);
  if (fd < 0) {
    return nullptr;
  }
  DIR* stream = fdopendir(fd);
  if (stream == nullptr) {
    const int error = errno;
    close(fd);
    errno = error;
    return nullptr;
  }
  return std::make_shared<OpenDirectory>(std::move(path), stream);
}

const dirent* OpenDirectory::next() {
  const dirent* entry = nullptr;
  do {
    errno = 0;
    entry = readdir(stream_);
  } while (entry != nullptr &&
           (std::string_view(entry->d_name) == "." || std::string_view(entry->d_name) == ".."));
  return entry;
}

}  // namespace treestat
