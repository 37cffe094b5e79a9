// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/system_call.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "inspect/proc_path.h"

namespace weft::inline v0_1::detail::tools {

using inspect::Registers;

SystemCallReader::SystemCallReader(int processId, int threadId)
    : file_(open(inspect::ProcPath(processId, "task/" + std::to_string(threadId) + "/syscall").text(),
                 O_RDONLY | O_CLOEXEC)) {}

SystemCallReader::~SystemCallReader() {
  if (file_ >= 0) {
    close(file_);
  }
}

std::optional<SystemCall> SystemCallReader::read() const {
  char text[256] = "";
  if (pread(file_, text, sizeof text - 1, 0) <= 0) {
    return std::nullopt;
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
