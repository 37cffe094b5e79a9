// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/process_memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>

#include "inspect/proc_path.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr size_t kPiecesPerCall = 64;  // the arrays of pieces lie on the stack, which may be a fiber's

}  // namespace

ProcessMemory::~ProcessMemory() {
  if (file_ >= 0) {
    close(file_);
  }
}

bool ProcessMemory::read(Address address, void* to, size_t size) const {
  Piece piece{address, to, size, false};
  readMany(&piece, 1);
  return piece.isRead;
}

void ProcessMemory::readMany(Piece* pieces, size_t count) const {
  while (count != 0) {
    const size_t done = readSome(pieces, std::min(count, kPiecesPerCall));
    pieces += done;
    count -= done;
  }
  // (1) acquire: the next call reads nothing older than what goes with this one, also where the kernel orders
  // no two calls; pairs with the release stores of EventRing::write() and FiberFactory::newBlock().
  std::atomic_thread_fence(std::memory_order_acquire);
}

// Reads pieces up to the first that cannot be read. Returns: how many it has dealt with, one or more.
size_t ProcessMemory::readSome(Piece* pieces, size_t count) const {
  iovec from[kPiecesPerCall];
  iovec to[kPiecesPerCall];
  for (size_t i = 0; i < count; ++i) {
    from[i] = {reinterpret_cast<void*>(pieces[i].address), pieces[i].size};
    to[i] = {pieces[i].to, pieces[i].size};
    pieces[i].isRead = false;
  }
  ssize_t size = -1;
  if (!isRefused_) {
    size = process_vm_readv(processId_, to, count, from, count, 0);
    if (size < 0 && (errno == EPERM || errno == ENOSYS)) {
      isRefused_ = true;
    }
  }
  if (isRefused_) {
    pieces[0].isRead = readFile(pieces[0].address, pieces[0].to, pieces[0].size);
    return 1;
  }
  if (size < 0) {
    lastError_ = errno;
  }
  size_t left = size < 0 ? 0 : static_cast<size_t>(size);
  for (size_t i = 0; i < count; ++i) {
    if (left < pieces[i].size || size < 0) {
      lastError_ = size < 0 ? lastError_ : EFAULT;
      return i + 1;
    }
    left -= pieces[i].size;
    pieces[i].isRead = true;
  }
  return count;
}

bool ProcessMemory::readFile(Address address, void* to, size_t size) const {
  if (file_ < 0) {
    file_ = open(ProcPath(processId_, "mem").text(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) {
      lastError_ = errno == EACCES ? EPERM : errno == ENOENT ? ESRCH : errno;
      return false;
    }
  }
  if (address > static_cast<Address>(std::numeric_limits<off_t>::max())) {
    lastError_ = EFAULT;
    return false;
  }
  auto* next = static_cast<char*>(to);
  while (size != 0) {
    const ssize_t now = pread(file_, next, size, static_cast<off_t>(address));
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now <= 0) {  // at the end of what is mapped it is EIO, or nothing
      lastError_ = EFAULT;
      return false;
    }
    next += now;
    address += static_cast<Address>(now);
    size -= static_cast<size_t>(now);
  }
  return true;
}

}  // namespace weft::inline v0_1::detail::inspect
