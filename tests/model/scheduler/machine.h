// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/memory.h>
#include <weft/scheduler.h>

// The machine below a scheduler that is checked: its threads are the checker's, its memory is counted in each
// run, and its time passes as it likes.
namespace weft::model {

inline constexpr unsigned kWorkers = 2;

// One run. It is made before all, and destroyed after all, that the checker sees in it.
class Machine {
 public:
  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // What thread `index` of the checker does: it is that of a NativeThread, from its start to its end.
  static void runThread(unsigned index);
  // No further NativeThread will be started.
  static void noMoreThreads();
};

// What is to be as in a new thread, in sources.cpp: the thread_local objects that are no pointers. One thread
// of the model uses them, the one outside.
void resetThreadLocals();

// Memory of the checker. It keeps its contents when it is freed, and an atomic in it is gone then.
class MachineAllocator final : public Allocator {
 public:
  Allocation allocate(const Allocation::Request& request) override;
  void free(const Allocation& allocation) override;
};

}  // namespace weft::model
