// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

namespace weft::inline v0_1::detail {

// How many sleeps a wait takes until it warns: 3 to 6 s. Not seconds, since a stopped program does not wait.
inline constexpr uint32_t kRelaxPatience = 30'000;
extern std::atomic<uint32_t> relaxPatience;

// One step of a wait for a thread that holds a lock for some instructions, or is about to store a word. Each
// such wait of the library ends up here. Increments `round`.
//
// A holder that runs is done within some pauses, and a preempted one gets the processor by a yield. But a
// yield gives it to threads of equal priority only: a real-time thread would yield forever beside a holder of
// a lower class. So a wait that goes on sleeps between looks. A wait that never ends is most often one in a
// signal handler, for the thread that it has interrupted. Each such wait warns once.
//
// System: void pause(), void yield(), void sleepBriefly(), uint32_t patience(), void warn()
template <class System>
void relaxBy(uint32_t& round, System&& system) {
  // About as long as a preempted holder's neighbours run on. The system should end longer waits.
  constexpr uint32_t kPauses = 64;
  constexpr uint32_t kYields = 256;
  const uint32_t before = round++;
  if (before < kPauses) {
    system.pause();
  } else if (before < kPauses + kYields) {
    system.yield();
  } else {
    system.sleepBriefly();
    if (before - kPauses - kYields == system.patience()) {
      system.warn();
    }
  }
}

}  // namespace weft::inline v0_1::detail
