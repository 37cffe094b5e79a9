// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "weft/channel.h"
#include "weft/event.h"
#include "weft/mpi/communicator.h"
#include "weft/mpi/environment.h"
#include "weft/mpi/native.h"
#include "weft/mpi/request.h"
#include "weft/pollsource.h"

namespace weft::inline v0_1::detail {

// What a fiber waits for: an operation, several, or a message. It lies in the frame of who waits, and is
// tested there once, and then by whoever may call MPI.
struct MpiWait {
  enum class Kind : uint8_t { One, All, Any, Probe, MatchedProbe };

  Kind kind = Kind::One;
  std::span<MPI_Request> requests{};  // not of a probe
  std::span<MPI_Status> statuses{};   // of All: as many, or none
  MPI_Comm comm = MPI_COMM_NULL;      // of a probe, as what follows
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
  // What has come of it.
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};
  int index = MPI_UNDEFINED;
  int result = MPI_SUCCESS;

  // Asks MPI. Returns: whether it is done, or has failed.
  bool test();
};

// What is behind an Environment. There is one at most.
class MpiEngine {
 public:
  explicit MpiEngine(mpi::ThreadLevel level, bool finalizes);
  MpiEngine(const MpiEngine&) = delete;
  ~MpiEngine();

  // Returns: the engine. Ends the program with a message if there is none: `what`, such as "mpi::wait()",
  // needs it.
  static MpiEngine& current(const char* what);
  // Calls f() as call() does, or here if there is no engine: the caller sees to the thread then.
  template <class F>
  static int callOrHere(F&& f) {
    MpiEngine* const engine = find();
    return engine != nullptr ? engine->call(f) : f();
  }

  // Calls f(), which returns a code of MPI, on a thread that may call MPI. Suspends or blocks where that is
  // another one, and where f() does.
  template <class F>
  int call(F&& f) {
    if (mayCall()) {
      return f();
    }
    Call call{[](void* function) { return (*static_cast<std::remove_reference_t<F>*>(function))(); },
              std::addressof(f)};
    return callElsewhere(call);
  }
  // Waits until `wait` is done, or `limit` has come. On a thread that may call MPI.
  // Returns: false if the limit came first.
  bool wait(MpiWait& wait, const mpi::Limit& limit);
  // As wait(), of the engine, on any thread. `what`: as for current().
  static bool await(MpiWait& wait, const mpi::Limit& limit, const char* what);

  // Returns: how many fibers and threads wait for MPI. A call for another fiber may wait for a request.
  size_t numWaiting() const {
    return std::max(source_.numInFlight(), numCalls_.load(std::memory_order_relaxed));
  }
  mpi::ThreadLevel level() const { return level_; }
  const mpi::Communicator& world() const { return world_; }
  const mpi::Communicator& self() const { return self_; }

 private:
  struct Call {
    int (*function)(void*);
    void* object;
    int result = MPI_SUCCESS;
    Event done{Event::Mode::Manual};
  };

  static MpiEngine* find();
  bool mayCall();
  int callElsewhere(Call& call);
  void serve();

  const mpi::ThreadLevel level_;
  const bool finalizes_;
  mpi::Communicator world_;
  mpi::Communicator self_;
  PollSource<MpiWait> source_;
  // Of the levels at which one thread calls MPI: what others ask it for.
  Channel<Call*> calls_;
  std::atomic<size_t> numCalls_{0};  // that have not returned; relaxed: tells misuse
  Event hasServed_{Event::Mode::Manual};
};

}  // namespace weft::inline v0_1::detail
