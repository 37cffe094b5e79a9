// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory_resource>
#include <string>
#include <vector>

#include "inspect/trace_events.h"
#include "os/clock_reading.h"

namespace weft::inline v0_1::detail::inspect {

// What the threads of a process have recorded: plain data, the same for a look from inside and from outside.
// All memory comes from the resource that it is made with.
struct Recording {
  struct Thread {
    explicit Thread(std::pmr::memory_resource* memory) : name(memory), events(memory) {}

    // Returns: whether all is there that anybody has recorded under this number.
    bool isWhole() const { return numOverwritten == 0 && !followsAnother; }

    uint32_t number = 0;   // by which Woke names it: > 0
    int32_t threadId = 0;  // the system's
    std::pmr::string name;
    bool hasEnded = false;
    bool followsAnother = false;          // a thread that has ended had the number before
    uint64_t numOverwritten = 0;          // events, older than those that are left
    std::pmr::vector<TraceEvent> events;  // in the order in which the thread wrote them
  };

  explicit Recording(std::pmr::memory_resource* memory) : program(memory), threads(memory) {}

  std::pmr::memory_resource* memory() const { return threads.get_allocator().resource(); }
  Thread& addThread() { return threads.emplace_back(memory()); }

  int32_t processId = 0;
  std::pmr::string program;  // the path of its file; empty: not known
  // Two readings, one long before the other, tell how fast ticks() runs.
  ClockReading first;
  ClockReading last;
  // Events outside of this time are left out, in ticks().
  uint64_t startedAt = 0;   // 0: not known
  uint64_t stoppedAt = 0;   // 0: the recording goes on
  uint64_t numRefused = 0;  // threads for whose events there was no memory
  std::pmr::vector<Thread> threads;
};

}  // namespace weft::inline v0_1::detail::inspect
