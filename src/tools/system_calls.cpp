// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/system_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "inspect/proc_path.h"

namespace weft::inline v0_1::detail::tools {

using inspect::Registers;

SystemCalls::~SystemCalls() {
  for (const auto& [thread, file] : files_) {
    close(file);
  }
}

std::optional<SystemCall> SystemCalls::of(int threadId) {
  auto file = files_.find(threadId);
  if (file == files_.end()) {
    const inspect::ProcPath path(processId_, "task/" + std::to_string(threadId) + "/syscall");
    const int opened = open(path.text(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) {
      return std::nullopt;
    }
    file = files_.emplace(threadId, opened).first;
  }
  char text[256] = "";
  const ssize_t size = pread(file->second, text, sizeof text - 1, 0);
  if (size <= 0) {
    close(file->second);
    files_.erase(file);
  }
  // "running", or the number, six arguments unless that is -1, the stack pointer and the pc.
  char* rest = text;
  SystemCall call;
  call.number = std::strtoll(text, &rest, 10);
  if (rest == text) {
    return std::nullopt;
  }
  unsigned long long stackPointer = 0;
  unsigned long long pc = 0;
  for (int left = call.number < 0 ? 2 : 8; left != 0; --left) {
    stackPointer = pc;
    pc = std::strtoull(rest, &rest, 16);
  }
  call.registers.set(Registers::kStackPointer, stackPointer);
  call.registers.set(Registers::kPc, pc);
  call.registers.isInterrupted = true;
  return call;
}

}  // namespace weft::inline v0_1::detail::tools
