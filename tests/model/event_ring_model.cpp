// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The test must fail with each of these in the code (see README.md):
// Seeded bug: src/scheduler/trace/event_ring.h:1:relaxed
// Seeded bug: src/scheduler/trace/event_ring.h:2:relaxed
// Seeded bug: src/scheduler/trace/event_ring.h:3:relaxed
// Seeded bug: src/scheduler/trace/event_ring.h:4:relaxed
// Seeded bug: src/scheduler/trace/event_ring.h:5:relaxed
// Seeded bug: src/scheduler/trace/event_ring.h:6:relaxed

#include "explore.h"
#include "scheduler/trace/event_ring.h"

namespace weft::model {
namespace {

// A thread writes more events than the ring holds, and another reads the ring meanwhile.
struct Reading : rl::test_suite<Reading, 2> {
  using Ring = detail::EventRing<RelacySync>;

  static constexpr uint64_t kCapacity = 2;
  static constexpr uint64_t kEvents = 5;
  static uint64_t headOf(uint64_t n) { return 10 + n; }
  static uint64_t operandOf(uint64_t n) { return 20 + n; }

  Ring::Slot slots[kCapacity];
  Ring ring{slots, kCapacity};

  void thread(unsigned index) {
    if (index == 0) {
      for (uint64_t n = 0; n < kEvents; ++n) {
        ring.write(headOf(n), operandOf(n));
      }
      return;
    }
    const uint64_t end = ring.numWritten();
    const uint64_t begin = end < kCapacity ? 0 : end - kCapacity;
    Ring::Event events[kCapacity];
    for (uint64_t n = begin; n < end; ++n) {
      events[n - begin] = ring.at(n);
    }
    const uint64_t intact = detail::inspect::firstIntact(ring.numWritten(), kCapacity);
    for (uint64_t n = begin; n < end; ++n) {
      const Ring::Event& event = events[n - begin];
      check(n < intact || (event.head == headOf(n) && event.operand == operandOf(n)),
            "what is kept is the event of that number, whole");
    }
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] { return exploreFinite<Reading>("reading", 100'000); });
}
