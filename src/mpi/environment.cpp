// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/mpi/environment.h"

#include <algorithm>

#include "mpi/engine.h"
#include "mpi/throw_error.h"
#include "weft/debug.h"
#include "weft/scheduler.h"

namespace weft::inline v0_1::mpi {
namespace {

int nativeLevel(ThreadLevel level) {
  constexpr int kLevels[] = {MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  return kLevels[static_cast<size_t>(level)];
}

// Returns: the most that `provided`, a level of MPI's, and `most` allow.
ThreadLevel usable(int provided, ThreadLevel most) {
  ThreadLevel level = most;
  while (nativeLevel(level) > provided && level != ThreadLevel::Funneled) {
    level = static_cast<ThreadLevel>(static_cast<int>(level) - 1);
  }
  return level;
}

std::unique_ptr<detail::MpiEngine> start(int* argc, char*** argv, ThreadLevel most) {
  WEFT_ASSERT(Scheduler::get() != nullptr,
              "an mpi::Environment was made on a thread without a scheduler. Bind one before.");
  int isFinalized = 0;
  MPI_Finalized(&isFinalized);
  WEFT_ASSERT(isFinalized == 0,
              "an mpi::Environment was made after MPI_Finalize(). MPI does not begin anew.");
  int wasInitialized = 0;
  MPI_Initialized(&wasInitialized);
  int provided = MPI_THREAD_SINGLE;
  if (wasInitialized != 0) {
    MPI_Query_thread(&provided);
  } else {
    detail::check(MPI_Init_thread(argc, argv, nativeLevel(most), &provided), "MPI_Init_thread");
  }
  WEFT_ASSERT(
      provided != MPI_THREAD_SINGLE,
      "MPI was initialised for one thread only (MPI_THREAD_SINGLE). Let the mpi::Environment do that, "
      "or call MPI_Init_thread() with MPI_THREAD_FUNNELED or more.");
  const ThreadLevel level = usable(provided, most);
  if (level == ThreadLevel::Funneled) {
    int isMain = 0;
    MPI_Is_thread_main(&isMain);
    WEFT_ASSERT(isMain != 0,
                "an mpi::Environment of level Funneled was made on another thread than the one that has "
                "initialised MPI.");
  }
  return std::make_unique<detail::MpiEngine>(level, wasInitialized == 0);
}

}  // namespace

Environment::Environment(ThreadLevel most) : engine_(start(nullptr, nullptr, most)) {}
Environment::Environment(int& argc, char**& argv, ThreadLevel most) : engine_(start(&argc, &argv, most)) {}
Environment::~Environment() = default;

ThreadLevel Environment::level() const noexcept { return engine_->level(); }

}  // namespace weft::inline v0_1::mpi
