// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstdint>
#include <memory>

#include "weft/export.h"
#include "weft/mpi/native.h"

namespace weft::inline v0_1 {
class Scheduler;
}

namespace weft::inline v0_1::detail {
class MpiEngine;
}

namespace weft::inline v0_1::mpi {

// Which threads of a process call MPI, as MPI_Init_thread(3) says.
enum class ThreadLevel : uint8_t {
  Funneled,    // the one that makes the Environment
  Serialized,  // that one too
  Multiple,    // any
};

// MPI as something that fibers wait for. Whoever uses weft::mpi makes one, after the scheduler:
//
//   int main(int argc, char** argv) {
//     weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
//     weft::Scheduler::Binding bound(scheduler);
//     const weft::mpi::Environment mpi(argc, argv);
//     const weft::mpi::Communicator& world = weft::mpi::world();
// Initialises MPI, unless the program has done so, and finalises it then. Errors of MPI_COMM_WORLD and
// MPI_COMM_SELF are returned from now on (MPI_ERRORS_RETURN): weft::mpi makes exceptions of them. The workers
// of the scheduler ask MPI while a fiber waits: see weft/pollsource.h.
//
// With another level than Multiple, each operation of a fiber of another thread is a task of the thread that
// has made the environment. It runs when that thread waits, which it therefore does, for example by
// TaskGroup::wait(), rather than work for long.
// That thread also ends the environment, and stays bound to the scheduler until then.
// Lifetime: the scheduler outlives it, and all requests and communicators have ended before. If a fiber or a
// thread waits for MPI still, a message ends the program.
class Environment {
 public:
  // MPI for the scheduler that is bound to the caller. The level is `most`, or less, if MPI does not provide
  // it. Errors: Error if MPI does not begin. A message ends the program if no scheduler is bound, if there is
  // an environment, if MPI was finalised, if it was initialised for one thread (MPI_THREAD_SINGLE), or if the
  // level asks for the thread that has initialised it, and that is not the caller.
  WEFT_EXPORT explicit Environment(ThreadLevel most = ThreadLevel::Multiple);
  WEFT_EXPORT Environment(int& argc, char**& argv, ThreadLevel most = ThreadLevel::Multiple);
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  // Finalises MPI, if this has initialised it: waits, like MPI_Finalize(3), until all ranks do.
  WEFT_EXPORT ~Environment();

  // Returns: which threads call MPI.
  WEFT_EXPORT ThreadLevel level() const noexcept;

 private:
  std::unique_ptr<detail::MpiEngine> engine_;
};

}  // namespace weft::inline v0_1::mpi

#include "weft/detail/base/macros_end.h"
