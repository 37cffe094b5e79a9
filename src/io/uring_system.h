// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#ifdef WEFT_IO_URING
#include <liburing.h>
#endif

// The system calls of io_uring. Nothing where there is no liburing.
namespace weft::inline v0_1::detail {
#ifdef WEFT_IO_URING

struct FileRequest;

// A ring, which belongs to the thread that has made it.
struct IoRing {
  io_uring ring{};
  unsigned enterFlags = 0;  // of io_uring_enter(2), with each call
};

// The part of IoSystem that is of io_uring. Each returns -1 and sets errno where it fails.
struct UringSystem {
  // Requests handed over at once, and results that the ring has room for. The system keeps further results.
  static constexpr unsigned kRingRequests = 256;
  static constexpr unsigned kRingResults = 1024;

  static int makeRing(IoRing& made, unsigned requests, unsigned results);
  static void destroyRing(IoRing& ring);
  // Has the system write to the eventfd `wakeFd` when there are results, or enterRing() would post some.
  static int setRingWakeFd(IoRing& ring, int wakeFd);

  // Hands over the requests that lie in the ring, and has the system post the results that there are.
  static int enterRing(IoRing& ring);
};

void prepareRequest(io_uring_sqe& prepared, const FileRequest& request);

// Makes a ring for a moment, and tries it. Returns: 0, or the error number with which the system refuses one.
int tryRing() noexcept;

#else

struct UringSystem {};

#endif
}  // namespace weft::inline v0_1::detail
