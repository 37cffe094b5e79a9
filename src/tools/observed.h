// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "inspect/arena.h"
#include "inspect/image_names.h"
#include "inspect/snapshot.h"
#include "inspect/text.h"
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
  std::string introduction();

 private:
  void writeEndOfCore(inspect::Text& out);

  Target& target_;
  inspect::Arena arena_;
  inspect::Snapshot snapshot_{&arena_};
  inspect::ImageNames names_;
};

// Adds the program and the libraries of the target.
void addModules(const Target& target, ModuleFiles& modules);

}  // namespace weft::inline v0_1::detail::tools
