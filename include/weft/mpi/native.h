// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// <mpi.h> without what MPI 3 has removed: the C++ functions, which both libraries still bring.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#if MPI_VERSION < 3
#error "weft::mpi needs MPI 3 or later"
#endif
