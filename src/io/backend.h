// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace weft::inline v0_1::detail {

// What makes requests of fibers that must wait for a disk: threads beside epoll, or io_uring.
enum class IoBackend : uint8_t { Epoll, Uring };

// The first call chooses: what the environment asks for, else io_uring where there is one. If what the
// environment asks for is not there, a message ends the program. `error`: 0, or why the system could not be
// asked this time, such as for want of a descriptor. Then the next call asks again.
IoBackend chosenBackend(int& error) noexcept;

}  // namespace weft::inline v0_1::detail
