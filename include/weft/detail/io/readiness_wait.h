// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace weft::inline v0_1::detail {

class ReadinessReactor;
struct IoDomain;

// A wait for a descriptor, by a fiber or by a case of a select(). It lies in the frame of who waits, as the
// `data` of the Waiter or SelectNode.
struct ReadinessWait {
  ReadinessReactor* reactor = nullptr;  // null where it does not wait for readiness: see file_wait.h
  const IoDomain* domain = nullptr;     // null on a thread without a scheduler
  uint32_t events = 0;
  bool isCanceled = false;  // written before the wake
  bool mayLast = false;     // it is for a receive of a Socket
};

}  // namespace weft::inline v0_1::detail
