// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "inspect/fiber_groups.h"
#include "inspect/names.h"
#include "inspect/snapshot.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {

// Writes "40 us", "3.2 s", "5 min", rounded down.
void writeDuration(Text& out, std::chrono::nanoseconds duration);

// Writes "3 to 9 s", "40 us to 3.2 s", or one duration where both are written alike.
void writeDurations(Text& out, std::chrono::nanoseconds shortest, std::chrono::nanoseconds longest);

// Writes "2026-11-27T07:59:05Z", of seconds since 1970.
void writeTime(Text& out, int64_t seconds);

// Writes "1 fiber", "99,812 fibers".
void writeCount(Text& out, uint64_t count, std::string_view noun);

// Writes "worker 0", "bound thread 4711", "main thread 4711". `number`: of a worker thread; -1: of a bound
// thread. `threadId`, `processId`: the system's.
void writeWorkerName(Text& out, int32_t number, int32_t threadId, int32_t processId);

// The parts of sentences that speak of a snapshot.
class Phrases {
 public:
  Phrases(Text& out, const Snapshot& snapshot, Names& names)
      : out_(out), snapshot_(snapshot), names_(names) {}

  void workerName(const Worker& worker) {
    writeWorkerName(out_, worker.id, worker.threadId, snapshot_.processId);
  }
  // workerName(), with its scheduler if there are several.
  void worker(uint32_t index);
  // "3 other workers have nothing to do; 2 fibers of theirs wait". `areAll`: of the scheduler.
  void quietWorkers(size_t count, bool areAll, uint64_t numBlocked);
  // "sleeps", "looks for work", "runs task A on fiber 3", "runs its own code". `sameTask`: it has run
  // the task for at least so long, as in "runs for at least 3 s task A on fiber 3"; zero: not known.
  void activity(const Worker& worker, std::chrono::nanoseconds sameTask = {});
  // "; its own code waits for Event 0x7f40, for 5 s"; nothing if the code outside of tasks waits for nothing.
  void ownWait(const Worker& worker);
  // "worker 0, fiber 3"
  void place(const Fiber& fiber);
  // "task main::{lambda()#1}", "the code of bound thread 4711", "the code of worker 0 outside of tasks"
  void code(const Fiber& fiber);
  // code() of its members; "code outside of tasks" if it is that of several threads.
  void code(const FiberGroup& group);
  // code(), and place() for a task, in parentheses.
  void codeAndPlace(const Fiber& fiber);

  // "mutex 0x7f40", "io::read, fd 7"
  void object(const Fiber& fiber);
  // "WaitGroup 0x7f40 (count 3)", "Channel::send 0x7f40 (8 of 8 values; no fiber waits to receive)"; object()
  // where no more is known.
  void objectAndState(const Fiber& fiber);
  // " waits for WaitGroup 0x7f40 (count 3), for 5 s", " sleeps, for 5 s"
  void wait(const Fiber& fiber);
  // " wait for mutex 0x7f40, for 3 to 9 s", " wait for Semaphore (17 different ones), for 9 s"
  void wait(const FiberGroup& group);
  // "; 2 more fibers wait for this Event", those of other groups; nothing if there are none.
  void others(const FiberGroup& group);
  // "; held by task A on worker 1, fiber 5, which runs"; nothing if nobody holds it.
  void holder(const Fiber& fiber);

  // One line for each, after `indent`, and one for those past `most` lines. A function that calls itself
  // at one place again and again has one line.
  void frames(std::span<const Address> frames, size_t most, std::string_view indent);
  // Returns: the frames without weft's own at the end, where tasks are started, and without those at the
  // beginning that the public function calls. All of them if all are weft's.
  std::span<const Address> framesOfInterest(const Fiber& fiber);
  // Returns: the innermost frame that is not weft's, or 0.
  Address ownFrame(const Fiber& fiber);

  // Returns: the fiber of the thread's own code if that waits, or null.
  static const Fiber* blockedMain(const Snapshot& snapshot, const Worker& worker);

 private:
  std::string_view nameOf(const Fiber& fiber) const;
  void running(const Worker& worker, std::chrono::nanoseconds sameTask);
  void holdersDoing(const Fiber& holder);

  Text& out_;
  const Snapshot& snapshot_;
  Names& names_;
};

}  // namespace weft::inline v0_1::detail::inspect
