// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/uring_system.h"

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "io/file_wait.h"

#ifdef WEFT_IO_URING

namespace weft::inline v0_1::detail {
namespace {

// Threads of the system for requests that block, such as fsync(2): one more when all others block.
constexpr unsigned kMostThreads = 256;

// Counts the rings that are gone. A ring may lie where that of another thread lay, and ThreadSanitizer sees
// neither how liburing maps nor how it unmaps them: this tells it which was first.
constinit std::atomic<unsigned> numGone{0};

int resultOfRing(int result) {
  if (result < 0) {
    errno = -result;
  }
  return result < 0 ? -1 : result;
}

// Publishes the requests taken from the ring's array, in order. Returns: how many it has not seen.
unsigned publishRequests(io_uring& ring) {
  io_uring_sq& requests = ring.sq;
  unsigned tail = *requests.ktail;
  for (unsigned place = requests.sqe_head; place != requests.sqe_tail; ++place) {
    requests.array[tail++ & requests.ring_mask] = place & requests.ring_mask;
  }
  requests.sqe_head = requests.sqe_tail;
  io_uring_smp_store_release(requests.ktail, tail);
  return tail - IO_URING_READ_ONCE(*requests.khead);
}

}  // namespace

int UringSystem::makeRing(IoRing& made, unsigned requests, unsigned results) {
  io_uring_params params{};
  params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
                 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;
  params.cq_entries = results;
  const int result = io_uring_queue_init_params(requests, &made.ring, &params);
  if (result < 0) {
    return resultOfRing(result);
  }
  // (2) acquire: comes after what used a ring at this place; pairs with (1).
  (void)numGone.load(std::memory_order_acquire);
  // What these three are for works without, too. After fork() the child has nothing of the ring.
  io_uring_ring_dontfork(&made.ring);
  unsigned threads[2] = {kMostThreads, kMostThreads};
  io_uring_register_iowq_max_workers(&made.ring, threads);
  made.enterFlags = io_uring_register_ring_fd(&made.ring) == 1 ? IORING_ENTER_REGISTERED_RING : 0;
  return 0;
}

void UringSystem::destroyRing(IoRing& ring) {
  // (1) release: comes before what uses this place next; pairs with (2).
  numGone.fetch_add(1, std::memory_order_release);
  io_uring_queue_exit(&ring.ring);
}

int UringSystem::setRingWakeFd(IoRing& ring, int wakeFd) {
  return resultOfRing(io_uring_register_eventfd(&ring.ring, wakeFd));
}

int UringSystem::enterRing(IoRing& ring) {
  const unsigned count = publishRequests(ring.ring);
  return resultOfRing(io_uring_enter2(static_cast<unsigned>(ring.ring.enter_ring_fd), count, 0,
                                      ring.enterFlags | IORING_ENTER_GETEVENTS, nullptr, 0));
}

void prepareRequest(io_uring_sqe& prepared, const FileRequest& request) {
  const auto offset = static_cast<uint64_t>(request.offset);
  const auto count = static_cast<unsigned>(request.numParts);
  switch (request.kind) {
    case FileRequest::Kind::Read:
      return io_uring_prep_readv(&prepared, request.fd, request.parts, count, offset);
    case FileRequest::Kind::Write:
      return io_uring_prep_writev(&prepared, request.fd, request.parts, count, offset);
    case FileRequest::Kind::Sync:
      return io_uring_prep_fsync(&prepared, request.fd, 0);
    case FileRequest::Kind::Open:
      io_uring_prep_openat(&prepared, AT_FDCWD, request.path, request.flags, request.mode);
      // By default the system tries it with O_NONBLOCK first. A FIFO has come to be open by that, or the
      // try has failed, before there is somebody at its other end.
      prepared.flags |= (request.flags & O_NONBLOCK) == 0 ? IOSQE_ASYNC : 0;
      return;
  }
}

int tryRing() noexcept {
  IoRing tried;
  if (UringSystem::makeRing(tried, 4, 4) < 0) {
    return errno;
  }
  io_uring_prep_nop(io_uring_get_sqe(&tried.ring));
  int error = 0;
  while (error == 0 && io_uring_cq_ready(&tried.ring) == 0) {
    if (UringSystem::enterRing(tried) < 0 && errno != EINTR) {
      error = errno;
    }
  }
  UringSystem::destroyRing(tried);
  return error;
}

}  // namespace weft::inline v0_1::detail

#endif  // WEFT_IO_URING
