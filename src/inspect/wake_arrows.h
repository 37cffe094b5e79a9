// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "inspect/recording.h"

namespace weft::inline v0_1::detail::inspect {

// Which wake made which fiber go on. Tells of pairs only whose both events are in the recording.
class WakeArrows {
 public:
  struct Arrow {
    uint64_t id = 0;  // 0: there is none
    uint64_t wokenAt = 0;
  };

  explicit WakeArrows(const Recording& recording);

  // To be asked for each Woke: all of the first thread in their order, then those of the second one, ...
  // Returns: the arrow's id, or 0 if the fiber is not seen to go on.
  uint64_t next();
  // To be asked in that order, too, for each event that makes a fiber go on. `thread`, `event`: indices.
  Arrow to(uint32_t thread, size_t event);
  // Returns: the time of the last wake of that fiber, also of one that is not seen to go on; or kNoTime.
  // `thread`: the number of its thread, as in Woke.
  uint64_t lastWake(uint32_t thread, uint64_t fiber) const;

 private:
  struct FiberTime {
    uint64_t fiber;  // the number of its thread in the upper half, as in Woke
    uint64_t time;
    uint64_t ordinal;  // among all of its kind
  };
  struct End {
    uint32_t thread;
    size_t event;
    Arrow arrow;
  };

  void read(const Recording& recording, uint32_t thread);
  void join();

  std::pmr::vector<FiberTime> wakes_;  // sorted by the fiber, and then by the time
  std::pmr::vector<FiberTime> resumptions_;
  std::pmr::vector<bool> isUsed_;  // by the ordinal of a wake
  std::pmr::vector<End> ends_;     // of each resumption by its ordinal; then only those with an arrow
  // Of each thread: earlier wakes may be those of an event that is overwritten, or of another thread.
  std::pmr::vector<uint64_t> beginnings_;
  size_t nextWake_ = 0;
  size_t nextEnd_ = 0;
};

}  // namespace weft::inline v0_1::detail::inspect
