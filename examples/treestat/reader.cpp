// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace treestat {
namespace {

constexpr size_t kBatch = 16;  // files that are read together
constexpr size_t kBufferSize = size_t{64} * 1024;

constexpr const char* kNotRegular = "not read: neither a regular file nor a directory nor a link";

// Returns: its d_type; DT_UNKNOWN with errno set on failure.
unsigned char typeOfEntry(int directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) {
    return entry.d_type;
  }
  struct stat status{};
  if (fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return DT_UNKNOWN;
  }
  return IFTODT(status.st_mode);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace

void Reader::list(OpenDirectory& directory, Tally& tally, const std::function<void(std::string)>& onDirectory,
                  const std::function<void(Names)>& onBatch) {
  Names files;
  while (const dirent* entry = directory.next()) {
    const std::string name = entry->d_name;
    switch (typeOfEntry(directory.fd(), *entry)) {
      case DT_DIR:
        onDirectory(directory.pathOf(name));
        break;
      case DT_REG:
        files.push_back(name);
        if (files.size() == kBatch) {
          onBatch(std::exchange(files, {}));
        }
        break;
      case DT_LNK:
        lookAtLink(directory, name, tally);
        break;
      case DT_UNKNOWN:
        noteFailure(directory.pathOf(name), errno, tally);
        break;
      default:
        note(directory.pathOf(name), Oddity::Special, kNotRegular, tally);
    }
  }
  if (errno != 0) {
    noteFailure(directory.path(), errno, tally);
  }
  readFiles(directory, files, tally);
}

// Links are not followed: what they lead to is counted where it lies, if that is in the tree.
void Reader::lookAtLink(const OpenDirectory& directory, const std::string& name, Tally& tally) {
  ++tally.of(Oddity::Link);
  struct stat status{};
  if (fstatat(directory.fd(), name.c_str(), &status, 0) != 0) {
    if (errno == ELOOP) {
      note(directory.pathOf(name), Oddity::LinkLoop, "a link in a loop of links", tally);
    } else if (errno == ENOENT || errno == ENOTDIR) {
      note(directory.pathOf(name), Oddity::BrokenLink, "a broken link", tally);
    }
  }
}

void Reader::readFiles(const OpenDirectory& directory, const Names& names, Tally& tally) {
  for (const std::string& name : names) {
    const std::string path = directory.pathOf(name);
    const Text text = readFile(directory, name, path, tally);
    Type& type = tally.types[std::string(typeOf(name))];
    ++type.files;
    type.text.add(text);
    type.addLargest({text.bytes, path}, top_);
    filesRead_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number to be shown
  }
}

// Returns: what could be read of it.
Text Reader::readFile(const OpenDirectory& directory, const std::string& name, const std::string& path,
                      Tally& tally) {
  // Without waiting, for it may have become a fifo by now.
  const Descriptor file(
      openat(directory.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat before{};
  if (file.get() < 0 || fstat(file.get(), &before) != 0) {
    noteFailure(path, errno, tally);
    return {};
  }
  if (!S_ISREG(before.st_mode)) {
    note(path, Oddity::Special, kNotRegular, tally);
    return {};
  }
  // read() blocks this thread with all of its fibers: other tasks go on in the other workers. A mapping would
  // be no better, and its pages would vanish with the end of a file that shrinks.
  const auto buffer = std::make_unique_for_overwrite<char[]>(kBufferSize);
  TextCounter counter;
  ssize_t size = 0;
  while ((size = read(file.get(), buffer.get(), kBufferSize)) > 0) {
    counter.add(buffer.get(), static_cast<size_t>(size));
    bytesRead_.fetch_add(static_cast<uint64_t>(size),
                         std::memory_order_relaxed);  // relaxed: a number to be shown
  }
  struct stat after{};
  if (size < 0) {
    noteFailure(path, errno, tally);
  } else if (counter.text().bytes < static_cast<uint64_t>(before.st_size) && fstat(file.get(), &after) == 0 &&
             after.st_size < before.st_size) {
    note(path, Oddity::Shrunk, "shrank while it was read", tally);
  }
  return counter.text();
}

void Reader::noteFailure(const std::string& path, int error, Tally& tally) {
  note(path, error == ENOENT ? Oddity::Vanished : Oddity::Unreadable, std::strerror(error), tally);
}

void Reader::note(const std::string& path, Oddity oddity, const char* what, Tally& tally) {
  ++tally.of(oddity);
  console_.report(path, what);
}

}  // namespace treestat
