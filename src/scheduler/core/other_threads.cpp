// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/other_threads.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace weft::inline v0_1::detail {
namespace {

// What getdents64() writes, whatever size the program's own `dirent` has.
struct Entry {
  uint64_t number;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[1];  // and more, up to a 0
};

class File {
 public:
  explicit File(const char* path, int flags) : descriptor_(open(path, flags | O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

bool sleepsForEver(const inspect::Snapshot& snapshot, std::string_view thread) {
  const int threadId = std::atoi(thread.data());
  const bool mayHaveLimit = std::ranges::any_of(snapshot.workers, [threadId](const inspect::Worker& worker) {
    return worker.threadId == threadId && worker.state == inspect::Worker::State::Asleep;
  });
  char path[64] = "/proc/self/task/";
  const size_t size = std::strlen(path);
  if (thread.size() > 16) {
    return false;
  }
  std::memcpy(path + size, thread.data(), thread.size());
  std::memcpy(path + size + thread.size(), "/syscall", sizeof "/syscall");
  const File file(path, 0);
  char text[256] = "";
  const ssize_t length = file.descriptor() < 0 ? -1 : ::read(file.descriptor(), text, sizeof text - 1);
  return length > 0 && tellsOfSleep(text, mayHaveLimit);
}

}  // namespace

bool tellsOfSleep(const char* text, bool mayHaveLimit) {
  // "202 0x7f40 0x189 0x0 0x0 ...": the call and its arguments; "running", or "-1 ..." outside of calls.
  char* next = nullptr;
  const long call = std::strtol(text, &next, 10);
  uint64_t arguments[4] = {};
  for (uint64_t& argument : arguments) {
    char* const begin = next;
    argument = std::strtoull(begin, &next, 16);
    if (next == begin) {
      return false;
    }
  }
  const uint64_t operation = arguments[1] & FUTEX_CMD_MASK;
  const bool isWait = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
                      operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
  bool isFutex = call == SYS_futex;
#ifdef SYS_futex_time64  // that of the C library on processors of 32 bits
  isFutex = isFutex || call == SYS_futex_time64;
#endif
  return isFutex && isWait && (mayHaveLimit || arguments[3] == 0);
}

bool isNobodyLeft(const inspect::Snapshot& snapshot) {
  const File folder("/proc/self/task", O_DIRECTORY);
  if (folder.descriptor() < 0) {
    return false;
  }
  const auto self = static_cast<int>(gettid());
  alignas(Entry) char buffer[4096];
  for (;;) {
    const long size = syscall(SYS_getdents64, folder.descriptor(), buffer, sizeof buffer);
    if (size <= 0) {
      return size == 0;
    }
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const Entry*>(buffer + at);
      at += entry->length;
      const char* const name = entry->name;
      const bool isThread = name[0] != '.' && std::atoi(name) != self;
      if (isThread && !sleepsForEver(snapshot, name)) {
        return false;
      }
    }
  }
}

}  // namespace weft::inline v0_1::detail
