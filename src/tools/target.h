// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/arena.h"
#include "inspect/images.h"
#include "inspect/offsets.h"
#include "inspect/process_memory.h"
#include "tools/core_file.h"

namespace weft::inline v0_1::detail::tools {

// What a command looks at: a process that runs, or one that has left a core file.
class Target {
 public:
  // `name` is the number of a process, or the path of a core file.
  // Throws Failure if it cannot be looked at, or does not use weft.
  explicit Target(const char* name);
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  const std::string& name() const { return name_; }  // as messages have it
  const inspect::Memory& memory() const;
  inspect::Images& images() { return images_; }
  const std::vector<inspect::Offsets>& offsets() const { return offsets_; }  // one for each copy of weft
  int processId() const { return processId_; }
  std::string program() const;  // the path of what the process runs; empty if it is not known
  const CoreFile* core() const { return core_ ? &*core_ : nullptr; }  // null: the process runs
  bool lives() const;  // whether the process still runs; true for a core file
  // Throws Failure if the process has ended meanwhile.
  void checkThatItLives() const;
  bool isStopped() const;  // the process, by a signal or a debugger

 private:
  void openProcess();
  void openCore(const std::string& path);
  void findOffsets();
  char state() const;

  std::string name_;
  inspect::Arena arena_;
  inspect::Images images_{&arena_};
  std::optional<CoreFile> core_;
  std::optional<inspect::ProcessMemory> process_;
  std::vector<inspect::Offsets> offsets_;
  int processId_ = 0;
};

}  // namespace weft::inline v0_1::detail::tools
