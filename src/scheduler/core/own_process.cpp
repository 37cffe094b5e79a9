// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/own_process.h"

#include <unistd.h>

#include "inspect/mail_reader.h"
#include "inspect/recording_reader.h"
#include "inspect/snapshot_reader.h"
#include "scheduler/core/layout.h"

namespace weft::inline v0_1::detail {

std::string_view ownProgram(char (&to)[1024]) noexcept {
  const ssize_t length = readlink("/proc/self/exe", to, sizeof to);
  return {to, static_cast<size_t>(length > 0 ? length : 0)};
}

OwnProcess::OwnProcess() noexcept : id_(getpid()), memory_(id_) {
  char release[16];
  isReadable_ = inspect::readOffsets(memory_, reinterpret_cast<inspect::Address>(&layoutTable), offsets_,
                                     release) == inspect::TableState::Good;
}

void OwnProcess::read(inspect::Snapshot& snapshot, inspect::Unwinder* unwinder, inspect::Address only,
                      inspect::Letters letters) const {
  char program[1024];
  snapshot.processId = id_;
  snapshot.program = ownProgram(program);
  inspect::readSnapshot(memory_, offsets_, unwinder, inspect::Now::read(), snapshot, only, letters);
}

void OwnProcess::completeLetters(inspect::Worker& worker) const {
  inspect::completeLetters(memory_, offsets_, worker);
}

bool OwnProcess::read(inspect::Recording& recording) const {
  char program[1024];
  recording.processId = id_;
  recording.program = ownProgram(program);
  recording.last = ClockReading::now();
  return inspect::readRecording(memory_, offsets_, recording);
}

}  // namespace weft::inline v0_1::detail
