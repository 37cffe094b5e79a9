// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// As much of MPI as the headers of weft::mpi name, for the site's reference, which is made without an MPI.
#define MPI_VERSION 3

using MPI_Comm = struct MpiComm*;
using MPI_Datatype = struct MpiDatatype*;
using MPI_Message = struct MpiMessage*;
using MPI_Op = struct MpiOp*;
using MPI_Request = struct MpiRequest*;
struct MPI_Status {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR;
};

inline constexpr int MPI_ANY_SOURCE = -1;
inline constexpr int MPI_ANY_TAG = -1;
inline constexpr MPI_Comm MPI_COMM_NULL = nullptr;
inline constexpr MPI_Message MPI_MESSAGE_NULL = nullptr;
inline constexpr MPI_Request MPI_REQUEST_NULL = nullptr;
inline constexpr int MPI_UNDEFINED = -1;
inline constexpr MPI_Datatype MPI_BYTE{}, MPI_CHAR{}, MPI_CXX_BOOL{}, MPI_CXX_DOUBLE_COMPLEX{},
    MPI_CXX_FLOAT_COMPLEX{}, MPI_CXX_LONG_DOUBLE_COMPLEX{}, MPI_DATATYPE_NULL{}, MPI_DOUBLE{}, MPI_FLOAT{},
    MPI_INT{}, MPI_LONG{}, MPI_LONG_DOUBLE{}, MPI_LONG_LONG{}, MPI_SHORT{}, MPI_SIGNED_CHAR{}, MPI_UNSIGNED{},
    MPI_UNSIGNED_CHAR{}, MPI_UNSIGNED_LONG{}, MPI_UNSIGNED_LONG_LONG{}, MPI_UNSIGNED_SHORT{}, MPI_WCHAR{};
