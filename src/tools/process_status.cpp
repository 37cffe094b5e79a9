// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/process_status.h"

#include <unistd.h>

#include <fstream>
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

}  // namespace

void checkProcess(int processId) {
  const std::string name = std::to_string(processId);
  const int owner = processOf(processId);
  if (owner == 0 && access(inspect::ProcPath(processId, "").text(), F_OK) != 0) {
    throw Failure("there is no process " + name);
  }
  if (owner != processId && owner != 0) {
    throw Failure(name + " is a thread of process " + std::to_string(owner) + ": give that number");
  }
}

}  // namespace weft::inline v0_1::detail::tools
