// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/process_status.h"

#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "inspect/proc_path.h"
#include "tools/command.h"

namespace weft::inline v0_1::detail::tools {
namespace {

// Returns: the number of the process of which that is a thread; 0, if there is none, or if the system does
// not tell.
int processOf(int threadId) {
  constexpr std::string_view kName = "Tgid:\t";
  std::ifstream file(inspect::ProcPath(threadId, "status").text());
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kName)) {
      return parsePositive(line.c_str() + kName.size());
    }
  }
  return 0;
}

// Returns: how long the system has run.
std::chrono::nanoseconds sinceStart() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Reads a file "stat" of /proc.
std::optional<ProcessStatus> readStatus(const inspect::ProcPath& path) {
  std::ifstream file(path.text());
  std::string text;
  std::getline(file, text, '\0');
  // The fields stand behind the program's name, which may have any characters.
  const size_t end = text.rfind(") ");
  if (end == text.npos) {
    return std::nullopt;
  }
  std::istringstream fields(text.substr(end + 2));
  const auto skip = [&fields](int count) {
    for (std::string field; count > 0; --count) {
      fields >> field;
    }
  };
  char state = '\0';
  int64_t user = 0;
  int64_t system = 0;
  int64_t numThreads = 0;
  int64_t start = 0;
  fields >> state;
  skip(10);
  fields >> user >> system;
  skip(4);
  fields >> numThreads;
  skip(1);
  fields >> start;
  static const int64_t kPerSecond = sysconf(_SC_CLK_TCK);
  const std::chrono::nanoseconds tick(1'000'000'000 / kPerSecond);
  if (!fields) {
    return std::nullopt;
  }
  return ProcessStatus{state, numThreads, sinceStart() - start * tick, (user + system) * tick};
}

}  // namespace

std::optional<ProcessStatus> statusOf(int processId) {
  return readStatus(inspect::ProcPath(processId, "stat"));
}

std::optional<ProcessStatus> statusOfThread(int processId, int threadId) {
  return readStatus(inspect::ProcPath(processId, "task/" + std::to_string(threadId) + "/stat"));
}

bool hasJustBegun(int processId) {
  using namespace std::chrono_literals;
  const std::optional<ProcessStatus> status = statusOf(processId);
  return status && status->state != 'Z' && status->age >= 0s && status->age < 500ms;
}

void checkProcess(int processId) {
  const std::string name = std::to_string(processId);
  const int owner = processOf(processId);
  if (owner == 0 && access(inspect::ProcPath(processId, "").text(), F_OK) != 0) {
    throw Failure("there is no process " + name);
  }
  if (owner != processId && owner != 0) {
    throw Failure(name + " is a thread of process " + std::to_string(owner) + ": give that number");
  }
  const std::optional<ProcessStatus> status = statusOf(processId);
  if (status && status->state == 'Z') {
    throw Failure("process " + name +
                  (status->numThreads > 1
                       ? " ends just now, or its main thread has ended: nothing of it can be read"
                       : " has ended, and its parent has not waited for it"));
  }
}

}  // namespace weft::inline v0_1::detail::tools
