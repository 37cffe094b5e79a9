// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <utility>

#include "mpi/engine.h"
#include "mpi/throw_error.h"
#include "weft/mpi/communicator.h"

namespace weft::inline v0_1::detail {

// An operation of MPI: post(MPI_Request*) starts it.
template <class Post>
struct MpiOperation {
  const char* name;  // of the function that starts it
  Post post;
};
template <class Post>
MpiOperation(const char*, Post) -> MpiOperation<Post>;

// Starts an operation. Errors: Error.
template <class Post>
mpi::Request start(const MpiOperation<Post>& operation, mpi::Request::Kind kind = mpi::Request::Kind::Once) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MpiEngine::current(operation.name).call([&] { return operation.post(&request); }), operation.name);
  return mpi::Request(request, kind);
}

// Starts an operation, and waits until it is done. Returns: MPI's code.
template <class Post>
int finish(const MpiOperation<Post>& operation, mpi::Status& status) {
  MpiEngine& engine = MpiEngine::current(operation.name);
  return engine.call([&] {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = operation.post(&request);
    if (code != MPI_SUCCESS) {
      return code;
    }
    MpiWait wait{.requests = {&request, 1}};
    (void)engine.wait(wait, {});
    status = mpi::Status(wait.status);
    return wait.result;
  });
}
template <class Post>
mpi::Status finish(const MpiOperation<Post>& operation) {
  mpi::Status status;
  check(finish(operation, status), operation.name);
  return status;
}

}  // namespace weft::inline v0_1::detail
