// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inspect/arena.h"
#include "inspect/image_names.h"
#include "inspect/snapshot.h"
#include "inspect/text.h"
#include "inspect/unwinder.h"
#include "tools/module_files.h"
#include "tools/target.h"

namespace weft::inline v0_1::detail::tools {

struct ObserveOptions {
  bool hasStacks = true;    // false: no backtraces, which takes far less time
  bool mayBeEmpty = false;  // whether it may have no scheduler
};

// What a command says of its target: all schedulers of all copies of weft in it, at one time.
class Observed {
 public:
  // Throws Failure if there is no scheduler, or the process has ended.
  explicit Observed(Target& target, const ObserveOptions& options = {});

  const inspect::Snapshot& snapshot() const { return snapshot_; }
  inspect::Names& names() { return names_; }

  // Returns: a text that says first what is special: how the process has ended, that it is stopped.
  // `mostFrames`: of the stack of the thread that has ended the process, for a core file. `hasAll`: with the
  // stacks of all other fibers that ran then.
  std::string introduction(size_t mostFrames = 0, bool hasAll = false);

 private:
  void readRunning(inspect::Unwinder& unwinder);
  void writeEndOfCore(inspect::Text& out);
  void writeStackOfEnd(inspect::Text& out, size_t mostFrames);
  void writeOthersThatRan(inspect::Text& out, size_t mostFrames);
  void writeChangedFiles(inspect::Text& out) const;
  const inspect::Worker* workerOfEnd() const;
  inspect::Fiber* fiberOn(const inspect::Worker& worker);
  inspect::Fiber* fiberOfEnd();

  Target& target_;
  inspect::Arena arena_;
  inspect::Snapshot snapshot_{&arena_};
  inspect::ImageNames names_;
  std::vector<inspect::Address> endFrames_;  // of the thread that has ended the process
};

// Adds the program and the libraries of the target.
void addModules(const Target& target, ModuleFiles& modules);

}  // namespace weft::inline v0_1::detail::tools
