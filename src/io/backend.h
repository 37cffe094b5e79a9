// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace weft::detail {

// How the fibers of the process wait for I/O.
enum class IoBackend : uint8_t { Epoll, Uring };

// The first call chooses: what the environment asks for, else io_uring where there is one. What the
// environment asks for and is not there is a message that ends the program. In `error`: 0; or why the system
// could not be asked this time, as for want of a descriptor. Then the next call asks again.
IoBackend chosenBackend(int& error) noexcept;

// Whether a worker to which the system refuses a ring by `error`, though io_uring was chosen, takes epoll:
// not where the environment asks for io_uring. A filter for system calls may have come meanwhile.
bool epollMayReplace(int error) noexcept;

}  // namespace weft::detail
