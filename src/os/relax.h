// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace weft::detail {

// One step of a wait for a thread that holds a lock for some instructions, or is about to store a word. Each
// such wait of the library ends up here. Increments `round`.
//
// A holder that runs is done within some pauses, and one that was preempted gets the processor by a yield. A
// yield gives it to threads of equal priority only: a thread of a real-time class would yield forever beside
// a holder of a lower class. So a wait that goes on sleeps between looks.
//
// System: void pause(), void yield(), void sleepBriefly()
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
  }
}

}  // namespace weft::detail
