// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A network that is slow, for ranks of one machine: a program that is linked to delay.cpp has messages that
// take a time at least. MPI_Test(3), MPI_Wait(3) and their relatives report a request as done that time after
// it was posted at the earliest. Blocking calls sleep for most of it, and so leave the processor to other
// threads.
//
// The delay holds for what MPI_Isend, MPI_Irecv, MPI_Send, MPI_Recv and MPI_Sendrecv post, unless the other
// rank is MPI_PROC_NULL; not for persistent requests and collective operations.

#pragma once

#include <chrono>

namespace delay {

// What is posted from now on takes so long at least.
void set(std::chrono::nanoseconds least);

}  // namespace delay
