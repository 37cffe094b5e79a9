// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "inspect/offsets.h"
#include "inspect/process_memory.h"
#include "inspect/recording.h"
#include "inspect/snapshot.h"
#include "inspect/unwinder.h"

namespace weft::inline v0_1::detail {

// Returns: the path of the program, in `to`; empty if the system does not tell. Async-signal-safe.
std::string_view ownProgram(char (&to)[1024]) noexcept;

// Reads the schedulers of this copy of weft in the own process. Calls no malloc, and takes no lock.
class OwnProcess {
 public:
  OwnProcess() noexcept;

  // Returns: whether the system lets the process read its own memory, without which there is nothing to see.
  bool isReadable() const { return isReadable_; }

  // As inspect::readSnapshot(). Without memory std::bad_alloc comes from the snapshot's memory resource.
  void read(inspect::Snapshot& snapshot, inspect::Unwinder* unwinder, inspect::Address only = 0,
            inspect::Letters letters = inspect::Letters::Counted) const;
  // As inspect::completeLetters().
  void completeLetters(inspect::Worker& worker) const;
  // As inspect::readRecording().
  bool read(inspect::Recording& recording) const;
  const inspect::Memory& memory() const { return memory_; }

 private:
  const int id_;
  const inspect::ProcessMemory memory_;
  inspect::Offsets offsets_;
  bool isReadable_ = false;
};

}  // namespace weft::inline v0_1::detail
