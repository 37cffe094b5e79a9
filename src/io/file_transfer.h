// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>

#include "io/backend.h"
#include "io/call_parts.h"
#include "io/descriptor_table.h"
#include "io/file_wait.h"
#include "io/io_call.h"
#include "io/io_retry.h"
#include "io/readiness.h"
#include "io/result.h"
#include "io/sigpipe.h"
#include "io/system.h"

// Transfers of what may be a file. poll(2) does not wait for a file: io_uring or a blocking thread does.
namespace weft::inline v0_1::detail {

// One call of the API that reads, writes, syncs or opens. It is made anew for each.
template <class Sys>
class FileTransfer {
 public:
  FileTransfer(int fd, const io::Wait& limits, const char* what) : retry_(fd, limits, what) {}

  // Reads at `offset`, or at the descriptor's own position (-1).
  static IoResult readParts(int fd, std::span<const iovec> parts, int64_t offset, const io::Wait& limits,
                            const char* what) {
    parts = partsOfOneCall(parts);
    if (parts.empty()) {
      return {-1, EINVAL};
    }
    const int count = static_cast<int>(parts.size());
    const FileRequest request{.kind = FileRequest::Kind::Read,
                              .fd = fd,
                              .parts = parts.data(),
                              .numParts = count,
                              .offset = offset};
    return FileTransfer(fd, limits, what).transfer(request, [&] {
      return Sys::readNow(fd, request.parts, count, offset);
    });
  }

  // Writes at the descriptor's own position. Only pipes raise SIGPIPE: sockets have a call that does not.
  static IoResult writeParts(int fd, std::span<const iovec> parts, const io::Wait& limits, const char* what) {
    parts = partsOfOneCall(parts);
    const int count = static_cast<int>(parts.size());
    FileTransfer operation(fd, limits, what);
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts.data());
    message.msg_iovlen = parts.size();
    const IoResult sent = operation.retry_.run(
        POLLOUT, [&] { return Sys::sendMessage(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL); });
    if (sent.error != ENOTSOCK) {
      return sent;
    }
    const FileRequest request{
        .kind = FileRequest::Kind::Write, .fd = fd, .parts = parts.data(), .numParts = count};
    return operation.transfer(request, [&] {
      return withoutSigpipe(parts, [&] { return Sys::writeNow(fd, request.parts, count, -1); });
    });
  }

  static IoResult readAt(int fd, const iovec& part, uint64_t offset, const io::Wait& limits) {
    const auto at = static_cast<int64_t>(offset);
    return at < 0 ? IoResult{-1, EINVAL} : readParts(fd, {&part, 1}, at, limits, "io::readAt");
  }

  static IoResult writeAt(int fd, const iovec& part, uint64_t offset, const io::Wait& limits) {
    const auto at = static_cast<int64_t>(offset);
    if (at < 0) {
      return {-1, EINVAL};
    }
    const FileRequest request{
        .kind = FileRequest::Kind::Write, .fd = fd, .parts = &part, .numParts = 1, .offset = at};
    return FileTransfer(fd, limits, "io::writeAt").transfer(request, [&] {
      return Sys::writeNow(fd, &part, 1, at);
    });
  }

  // Calls call(), which may block, where it holds up no fiber.
  template <class Call>
  IoResult runBlocking(const Call& call) {
    const io::Wait& limits = retry_.call().limits;
    const int ended = mayBlockThread() ? 0 : endedBy(limits);
    return ended != 0 ? IoResult{-1, ended} : runBlockingWithin(&limits, call);
  }

  // Makes a request that may wait for a disk: by the worker's ring, or on a thread that may block.
  IoResult runOnFile(const FileRequest& request) {
    const auto call = [&] { return callBlocking(request); };
    int error = 0;
    if (currentFiber == nullptr || chosenBackend(error) != IoBackend::Uring || error != 0) {
      return runBlocking(call);
    }
    ReadinessReactor* const reactor = ownReactor<Sys>(error);
    FileQueue* const queue = reactor != nullptr ? reactor->files() : nullptr;
    if (queue == nullptr) {
      return runBlocking(call);
    }
    if (const int ended = endedBy(retry_.call().limits); ended != 0) {
      return {-1, ended};
    }
    IoResult result;
    do {
      result = awaitFile(*reactor, *queue, request, retry_.call());
    } while (result.error == EINTR);
    return wouldWait(result) ? runBlocking(call) : result;
  }

 private:
  // Calls call() where it holds up no fiber. `limits` end the wait for a thread, unless they are null.
  template <class Call>
  IoResult runBlockingWithin(const io::Wait* limits, const Call& call) {
    if (mayBlockThread()) {
      return retry_.use(call);
    }
    IoResult result;
    const auto job = [&] {
      // There may have been no thread for long.
      const int ended = limits != nullptr ? endedBy(*limits) : 0;
      result = ended != 0 ? IoResult{-1, ended} : retry_.use(call);
    };
    const int error = onBlockingThread(job);
    return error == 0 ? result : IoResult{-1, error};
  }

  // Reads or writes. now() is the call with RWF_NOWAIT. runOnFile() waits for a disk, else the reactor.
  template <class Now>
  IoResult transfer(const FileRequest& request, const Now& now) {
    // With O_DIRECT nothing of the file is in memory, and RWF_NOWAIT waits for the disk.
    if (request.offset >= 0 && currentFiber != nullptr && isDirect()) {
      return runOnFile(request);
    }
    const IoResult first = retry_.use(now);
    if ((wouldWait(first) || isUnsupported(first)) && isOnDisk()) {
      // io_uring reads the file's position, transfers, and advances it: what others do then is lost.
      return request.offset < 0 ? runBlocking([&] { return callBlocking(request); }) : runOnFile(request);
    }
    const uint32_t events = request.kind == FileRequest::Kind::Read ? POLLIN : POLLOUT;
    return isUnsupported(first) ? transferByPoll(request, events) : retry_.goOn(first, events, now);
  }

  static ssize_t callBlocking(const FileRequest& request) {
    switch (request.kind) {
      case FileRequest::Kind::Read:
        return Sys::readBlocking(request.fd, request.parts, request.numParts, request.offset);
      case FileRequest::Kind::Sync:
        return Sys::sync(request.fd);
      case FileRequest::Kind::Open:
        return Sys::openFile(request.path, request.flags, request.mode);
      case FileRequest::Kind::Write:
        break;
    }
    const auto write = [&] {
      return Sys::writeBlocking(request.fd, request.parts, request.numParts, request.offset);
    };
    return request.offset < 0 ? withoutSigpipe({request.parts, static_cast<size_t>(request.numParts)}, write)
                              : write();
  }

  // transfer() when RWF_NOWAIT is unsupported (a terminal, or an old kernel). With O_NONBLOCK the plain call
  // tells whether it would wait. Otherwise poll(2) tells whether there is something to read, or any room. A
  // read may then block if another reader is faster, and a write if there is less room than it needs.
  IoResult transferByPoll(const FileRequest& request, uint32_t events) {
    if (const IoResult told = tryWithoutBytes(request); told.error != 0) {
      return told;
    }
    const auto call = [&] { return callBlocking(request); };
    if (hasFlag(O_NONBLOCK)) {
      return retry_.run(events, call);
    }
    if (events == POLLIN) {
      return retry_.run(events, [&] { return retry_.isReady(events) ? call() : -1; });
    }
    const IoResult ready = retry_.run(events, [&] { return retry_.isReady(events) ? 0 : -1; });
    return ready.error == 0 ? writeWhereThereIsRoom(request) : ready;
  }

  // What has no offsets, or cannot be read or written, says so now. It might never be ready.
  IoResult tryWithoutBytes(FileRequest request) const {
    const iovec empty{};
    request.parts = &empty;
    request.numParts = 1;
    return retry_.use([&] { return callBlocking(request); });
  }

  // Nothing ends a call that waits for more room. So a pipe gets what it has room for where something may end
  // the operation. It gets that even after the end, as it need not wait.
  IoResult writeWhereThereIsRoom(FileRequest request) {
    const io::Wait& limits = retry_.call().limits;
    const auto call = [&] { return callBlocking(request); };
    const bool hasEnded = endedBy(limits) != 0;
    const bool mayEnd = hasEnded || limits.deadline != kNever || limits.stop.stop_possible();
    if (!mayEnd || fileType() != S_IFIFO) {
      return runBlocking(call);
    }
    iovec part{};
    const auto parts = partsForPipe({request.parts, static_cast<size_t>(request.numParts)}, part);
    request.parts = parts.data();
    request.numParts = static_cast<int>(parts.size());
    return runBlockingWithin(hasEnded ? nullptr : &limits, call);
  }

  // Returns: the bits of S_IFMT; 0 if the system does not tell.
  mode_t fileType() const {
    struct stat status{};
    const IoResult told = retry_.use([&]() -> ssize_t { return Sys::status(retry_.call().fd, &status); });
    return told.error == 0 ? status.st_mode & S_IFMT : 0;
  }

  // Whether it is a file on a disk. poll(2) cannot report those.
  bool isOnDisk() const {
    const mode_t type = fileType();
    return type == S_IFREG || type == S_IFBLK || type == S_IFDIR;
  }

  bool hasFlag(int flag) const {
    const IoResult flags = retry_.use([&]() -> ssize_t { return Sys::flags(retry_.call().fd); });
    return flags.error == 0 && (flags.value & flag) != 0;
  }

  bool isDirect() const {
    const IoCall& call = retry_.call();
    Directness known = call.slot != nullptr ? recallDirectness(*call.slot) : Directness::Unknown;
    if (known == Directness::Unknown) {
      known = hasFlag(O_DIRECT) ? Directness::Direct : Directness::Cached;
      if (call.slot != nullptr) {
        noteDirectness(*call.slot, call.began.generation, known);
      }
    }
    return known == Directness::Direct;
  }

  IoRetry<Sys> retry_;
};

}  // namespace weft::inline v0_1::detail
