// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <mpi.h>

#include "mpi/ranks.h"

// The functions of MPI that weft::mpi calls while fibers run: each notes its caller, and does what the
// library's own does (the profiling interface of MPI).
namespace weft::mpi_test {
Calls calls;
}

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  weft::mpi_test::calls.note();
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  weft::mpi_test::calls.note();
  return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Test(MPI_Request* request, int* isDone, MPI_Status* status) {
  weft::mpi_test::calls.note();
  return PMPI_Test(request, isDone, status);
}

int MPI_Testsome(int count, MPI_Request requests[], int* numDone, int done[], MPI_Status statuses[]) {
  weft::mpi_test::calls.note();
  return PMPI_Testsome(count, requests, numDone, done, statuses);
}

int MPI_Testall(int count, MPI_Request requests[], int* areDone, MPI_Status statuses[]) {
  weft::mpi_test::calls.note();
  return PMPI_Testall(count, requests, areDone, statuses);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  weft::mpi_test::calls.note();
  return PMPI_Ibarrier(comm, request);
}
}
