// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

// MPI for fibers, which suspend to wait for a message. Needs the library weft::mpi. See docs/mpi.md.
#include "weft/mpi/buffer.h"
#include "weft/mpi/communicator.h"
#include "weft/mpi/datatype.h"
#include "weft/mpi/environment.h"
#include "weft/mpi/error.h"
#include "weft/mpi/request.h"

#include "weft/detail/base/macros_end.h"
