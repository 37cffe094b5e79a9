// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <mpi.h>

#include "mpi/ranks.h"

// The functions of MPI that weft::mpi calls while fibers run: each notes its caller, and does what the
// library's own does (the profiling interface of MPI). Not those that MPI's levels leave to any thread, and
// not those that look at an object of the caller alone: MPI_Get_count(3), MPI_Error_string(3).
namespace weft::mpi_test {
Calls calls;
}

#define WEFT_NOTED(name, parameters, ...) \
  int MPI_##name parameters {             \
    weft::mpi_test::calls.note();         \
    return PMPI_##name(__VA_ARGS__);      \
  }

extern "C" {

WEFT_NOTED(Isend,
           (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
            MPI_Request* request),
           data, count, type, to, tag, comm, request)
WEFT_NOTED(Irecv,
           (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request),
           data, count, type, from, tag, comm, request)
WEFT_NOTED(Send_init,
           (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
            MPI_Request* request),
           data, count, type, to, tag, comm, request)
WEFT_NOTED(Recv_init,
           (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request),
           data, count, type, from, tag, comm, request)
WEFT_NOTED(Start, (MPI_Request * request), request)
WEFT_NOTED(Cancel, (MPI_Request * request), request)
WEFT_NOTED(Request_free, (MPI_Request * request), request)

WEFT_NOTED(Test, (MPI_Request * request, int* isDone, MPI_Status* status), request, isDone, status)
WEFT_NOTED(Testsome, (int count, MPI_Request requests[], int* numDone, int done[], MPI_Status statuses[]),
           count, requests, numDone, done, statuses)
WEFT_NOTED(Testall, (int count, MPI_Request requests[], int* areDone, MPI_Status statuses[]), count, requests,
           areDone, statuses)
WEFT_NOTED(Testany, (int count, MPI_Request requests[], int* index, int* isDone, MPI_Status* status), count,
           requests, index, isDone, status)
WEFT_NOTED(Iprobe, (int from, int tag, MPI_Comm comm, int* isThere, MPI_Status* status), from, tag, comm,
           isThere, status)
WEFT_NOTED(Improbe,
           (int from, int tag, MPI_Comm comm, int* isThere, MPI_Message* message, MPI_Status* status), from,
           tag, comm, isThere, message, status)
WEFT_NOTED(Imrecv, (void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request),
           data, count, type, message, request)

WEFT_NOTED(Comm_idup, (MPI_Comm comm, MPI_Comm* made, MPI_Request* request), comm, made, request)
WEFT_NOTED(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), comm, color, key, made)
WEFT_NOTED(Comm_free, (MPI_Comm * comm), comm)
WEFT_NOTED(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler), comm, handler)
WEFT_NOTED(Type_free, (MPI_Datatype * type), type)
WEFT_NOTED(Type_commit, (MPI_Datatype * type), type)

WEFT_NOTED(Ibarrier, (MPI_Comm comm, MPI_Request* request), comm, request)
WEFT_NOTED(Ibcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
           data, count, type, root, comm, request)
WEFT_NOTED(Ireduce,
           (const void* data, void* result, int count, MPI_Datatype type, MPI_Op operation, int root,
            MPI_Comm comm, MPI_Request* request),
           data, result, count, type, operation, root, comm, request)
WEFT_NOTED(Iallreduce,
           (const void* data, void* result, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
            MPI_Request* request),
           data, result, count, type, operation, comm, request)
WEFT_NOTED(Iscan,
           (const void* data, void* result, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
            MPI_Request* request),
           data, result, count, type, operation, comm, request)
WEFT_NOTED(Iexscan,
           (const void* data, void* result, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
            MPI_Request* request),
           data, result, count, type, operation, comm, request)
WEFT_NOTED(Igather,
           (const void* data, int count, MPI_Datatype type, void* all, int allCount, MPI_Datatype allType,
            int root, MPI_Comm comm, MPI_Request* request),
           data, count, type, all, allCount, allType, root, comm, request)
WEFT_NOTED(Iscatter,
           (const void* all, int allCount, MPI_Datatype allType, void* data, int count, MPI_Datatype type,
            int root, MPI_Comm comm, MPI_Request* request),
           all, allCount, allType, data, count, type, root, comm, request)
WEFT_NOTED(Iallgather,
           (const void* data, int count, MPI_Datatype type, void* all, int allCount, MPI_Datatype allType,
            MPI_Comm comm, MPI_Request* request),
           data, count, type, all, allCount, allType, comm, request)
WEFT_NOTED(Ialltoall,
           (const void* data, int count, MPI_Datatype type, void* all, int allCount, MPI_Datatype allType,
            MPI_Comm comm, MPI_Request* request),
           data, count, type, all, allCount, allType, comm, request)
WEFT_NOTED(Igatherv,
           (const void* data, int count, MPI_Datatype type, void* all, const int counts[],
            const int offsets[], MPI_Datatype allType, int root, MPI_Comm comm, MPI_Request* request),
           data, count, type, all, counts, offsets, allType, root, comm, request)
WEFT_NOTED(Iscatterv,
           (const void* all, const int counts[], const int offsets[], MPI_Datatype allType, void* data,
            int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
           all, counts, offsets, allType, data, count, type, root, comm, request)
WEFT_NOTED(Iallgatherv,
           (const void* data, int count, MPI_Datatype type, void* all, const int counts[],
            const int offsets[], MPI_Datatype allType, MPI_Comm comm, MPI_Request* request),
           data, count, type, all, counts, offsets, allType, comm, request)
WEFT_NOTED(Ialltoallv,
           (const void* data, const int counts[], const int offsets[], MPI_Datatype type, void* all,
            const int allCounts[], const int allOffsets[], MPI_Datatype allType, MPI_Comm comm,
            MPI_Request* request),
           data, counts, offsets, type, all, allCounts, allOffsets, allType, comm, request)
}
