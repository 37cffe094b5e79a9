// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/unblocked_thread.h"

#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

namespace weft::inline v0_1::detail {
namespace {

constexpr const char* kThreadFolder = "/proc/self/task";

// How long an answer may take that changes from one look to the next.
constexpr std::chrono::milliseconds kLongestLook{500};

struct CloseStream {
  void operator()(std::FILE* file) const { std::fclose(file); }
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// What /proc/self/task/NUMBER/status tells. A thread of which it does not tell blocks all signals.
struct ThreadStatus {
  std::string name;
  char state = '?';
  uint64_t blocked = ~uint64_t{0};  // the lowest bit is for the signal 1

  // The C library blocks all signals in a thread that it starts, until the thread has set itself up. Other
  // threads that block all, such as weft's watchdog, sleep.
  bool mayBeStarting() const { return (state == 'R' || state == 'D') && (blocked >> (SIGSEGV - 1) & 1) != 0; }
};

// Returns: whether `line` begins with `key`, which is then removed from it.
bool takeKey(std::string_view& line, std::string_view key) {
  const bool isThere = line.starts_with(key);
  line.remove_prefix(isThere ? key.size() : 0);
  return isThere;
}

ThreadStatus readThreadStatus(const char* number) {
  ThreadStatus result;
  const std::string path = std::string(kThreadFolder) + "/" + number + "/status";
  const std::unique_ptr<std::FILE, CloseStream> file(std::fopen(path.c_str(), "re"));
  char buffer[256];
  while (file != nullptr && std::fgets(buffer, sizeof buffer, file.get()) != nullptr) {
    std::string_view line(buffer);
    if (takeKey(line, "Name:\t")) {
      result.name = line.substr(0, line.find('\n'));
    } else if (takeKey(line, "State:\t")) {
      result.state = line[0];
    } else if (takeKey(line, "SigBlk:\t")) {
      result.blocked = std::strtoull(line.data(), nullptr, 16);
    }
  }
  return result;
}

// Returns: the lowest signal that is in `signals` and that `thread` does not block; 0 if there is none.
int signalOutside(const ThreadStatus& thread, const sigset_t& signals) {
  const bool hasEnded = thread.state == 'Z' || thread.state == 'X';
  for (int signal = 1; signal <= 64 && !hasEnded; ++signal) {
    if (sigismember(&signals, signal) == 1 && (thread.blocked >> (signal - 1) & 1) == 0) {
      return signal;
    }
  }
  return 0;
}

struct ThreadsSeen {
  std::optional<UnblockedThread> found;
  bool isSure = true;
};

ThreadsSeen lookAtThreads(const sigset_t& signals) {
  ThreadsSeen seen;
  const auto self = static_cast<int>(gettid());
  const std::unique_ptr<DIR, CloseStream> folder(::opendir(kThreadFolder));
  while (const dirent* const entry = folder != nullptr ? ::readdir(folder.get()) : nullptr) {
    const int number = std::atoi(entry->d_name);
    if (number <= 0 || number == self) {
      continue;
    }
    ThreadStatus status = readThreadStatus(entry->d_name);
    if (const int signal = signalOutside(status, signals); signal != 0) {
      return {UnblockedThread{number, std::move(status.name), signal}, false};
    }
    seen.isSure = seen.isSure && !status.mayBeStarting();
  }
  return seen;
}

}  // namespace

std::optional<UnblockedThread> findUnblockedThread(const sigset_t& signals) {
  const auto end = std::chrono::steady_clock::now() + kLongestLook;
  ThreadsSeen seen = lookAtThreads(signals);
  while (!seen.isSure && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    seen = lookAtThreads(signals);
  }
  return std::move(seen.found);
}

}  // namespace weft::inline v0_1::detail
