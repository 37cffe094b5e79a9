// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>

#include "io/io_retry.h"

// The operations of weft/io/descriptor.h and of sockets, over a policy for system calls.
namespace weft::inline v0_1::detail {

template <class Sys>
struct PosixOperations {
  using Op = IoRetry<Sys>;
  using Bytes = std::span<std::byte>;
  using ConstBytes = std::span<const std::byte>;

  static IoResult readParts(int fd, std::span<const iovec> parts, int64_t offset, const io::Wait& limits,
                            const char* what) {
    parts = partsOfOneCall(parts);
    if (parts.empty()) {
      return {-1, EINVAL};
    }
    const int count = static_cast<int>(parts.size());
    return Op(fd, limits, what)
        .transfer(
            {.kind = FileRequest::Kind::Read,
             .fd = fd,
             .parts = parts.data(),
             .numParts = count,
             .offset = offset},
            [&] { return Sys::readNow(fd, parts.data(), count, offset); },
            [&] { return Sys::read(fd, parts.data(), count, offset); });
  }

  // A socket has a call of its own that raises no SIGPIPE, and nothing but a pipe raises it else.
  static IoResult writeParts(int fd, std::span<const iovec> parts, const io::Wait& limits, const char* what) {
    parts = partsOfOneCall(parts);
    const int count = static_cast<int>(parts.size());
    Op operation(fd, limits, what);
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts.data());
    message.msg_iovlen = static_cast<size_t>(count);
    const IoResult sent =
        operation.run(POLLOUT, [&] { return Sys::sendMessage(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL); });
    if (sent.error != ENOTSOCK) {
      return sent;
    }
    return operation.transfer(
        {.kind = FileRequest::Kind::Write, .fd = fd, .parts = parts.data(), .numParts = count},
        [&] { return withoutSigpipe(parts, [&] { return Sys::writeNow(fd, parts.data(), count, -1); }); },
        [&] { return withoutSigpipe(parts, [&] { return Sys::write(fd, parts.data(), count, -1); }); });
  }

  static IoResult readAt(int fd, Bytes buffer, uint64_t offset, const io::Wait& limits) {
    const iovec part{buffer.data(), buffer.size()};
    const auto at = static_cast<int64_t>(offset);
    return at < 0 ? IoResult{-1, EINVAL} : readParts(fd, {&part, 1}, at, limits, "io::readAt");
  }

  static IoResult writeAt(int fd, ConstBytes data, uint64_t offset, const io::Wait& limits) {
    const iovec part{const_cast<std::byte*>(data.data()), data.size()};
    const auto at = static_cast<int64_t>(offset);
    if (at < 0) {
      return {-1, EINVAL};
    }
    return Op(fd, limits, "io::writeAt")
        .transfer(
            {.kind = FileRequest::Kind::Write, .fd = fd, .parts = &part, .numParts = 1, .offset = at},
            [&] { return Sys::writeNow(fd, &part, 1, at); }, [&] { return Sys::write(fd, &part, 1, at); });
  }

  static IoResult open(const char* path, int flags, mode_t mode, const io::Wait& limits) {
    if (path == nullptr) {
      return {-1, EFAULT};
    }
    return Op(-1, limits, "io::open")
        .runOnFile({.kind = FileRequest::Kind::Open, .path = path, .flags = flags, .mode = mode},
                   [&]() -> ssize_t { return ::open(path, flags, mode); });
  }

  static IoResult sync(int fd, const io::Wait& limits) {
    return Op(fd, limits, "io::fsync")
        .runOnFile({.kind = FileRequest::Kind::Sync, .fd = fd}, [&]() -> ssize_t { return ::fsync(fd); });
  }

  static IoResult receive(int fd, Bytes buffer, int flags, const io::Wait& limits) {
    if (buffer.empty()) {
      return {-1, EINVAL};
    }
    return Op(fd, limits, "io::recv").run(eventsFor(fd, flags), [&] {
      return Sys::receive(fd, buffer.data(), buffer.size(), flags | MSG_DONTWAIT);
    });
  }

  // For a Socket, whose `fd` others may close.
  static IoResult receiveBySocket(int fd, Bytes buffer, const io::Wait& limits,
                                  const io::UniqueFd* owner = nullptr) {
    if (buffer.empty()) {
      return {-1, EINVAL};
    }
    return Op(fd, limits, "io::recv", owner).receive(buffer.size(), [&] {
      return Sys::receive(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    });
  }

  static IoResult send(int fd, ConstBytes data, int flags, const io::Wait& limits,
                       const io::UniqueFd* owner = nullptr) {
    return Op(fd, limits, "io::send", owner).run(POLLOUT, [&] {
      return Sys::send(fd, data.data(), data.size(), flags | MSG_DONTWAIT | MSG_NOSIGNAL);
    });
  }

  static IoResult receiveMessage(int fd, msghdr& message, int flags, const io::Wait& limits) {
    // What a call that fails has left there is undone.
    const msghdr asked = message;
    return Op(fd, limits, "io::recvmsg").run(eventsFor(fd, flags), [&] {
      message = asked;
      return Sys::receiveMessage(fd, &message, flags | MSG_DONTWAIT);
    });
  }

  static IoResult sendMessage(int fd, const msghdr& message, int flags, const io::Wait& limits) {
    const auto attempt = [&] { return Sys::sendMessage(fd, &message, flags | MSG_DONTWAIT | MSG_NOSIGNAL); };
    Op operation(fd, limits, "io::sendmsg");
    // A receiver that the message names may have no room. Of that poll(2) knows nothing.
    const bool isForLocalReceiver =
        isLocal(static_cast<const sockaddr*>(message.msg_name), message.msg_namelen);
    return isForLocalReceiver ? operation.runWithPauses(attempt) : operation.run(POLLOUT, attempt);
  }

  // Errors of connections that have ended before they were accepted are no errors of the listener.
  static IoResult accept(int fd, sockaddr* address, socklen_t* size, const io::Wait& limits,
                         const io::UniqueFd* owner = nullptr) {
    Op operation(fd, limits, "io::accept", owner);
    if (const IoResult before = makeNonBlocking(operation, fd); before.error != 0) {
      return before;
    }
    const socklen_t room = size != nullptr ? *size : 0;
    return operation.run(POLLIN, [&]() -> ssize_t {
      int accepted = -1;
      do {
        if (size != nullptr) {
          *size = room;
        }
        accepted = Sys::accept(fd, address, size);
      } while (accepted < 0 && isOfThePeer(errno));
      return accepted;
    });
  }

  // Returns: 0 once the socket is connected.
  static IoResult connect(int fd, const sockaddr* address, socklen_t size, const io::Wait& limits) {
    Op operation(fd, limits, "io::connect");
    const IoResult before = makeNonBlocking(operation, fd);
    if (before.error != 0) {
      return before;
    }
    const int flags = static_cast<int>(before.value);
    const IoResult result = connectNow(operation, fd, address, size);
    if ((flags & O_NONBLOCK) == 0) {
      operation.use([&]() -> ssize_t { return Sys::setFlags(fd, flags), 0; });
    }
    return result;
  }

  static IoResult waitFor(int fd, short events, const io::Wait& limits) {
    Op operation(fd, limits, "io::waitFor");
    short found = 0;
    const auto look = [&] { return operation.isReady(static_cast<uint16_t>(events), &found) ? 0 : -1; };
    const IoResult first = operation.use(look);
    // A fiber's epoll refuses what never changes. poll(2), by which a thread waits, calls that ready to read
    // and to write, and says nothing of the rest.
    constexpr short kAlwaysTold = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
    if (wouldWait(first) && currentFiber == nullptr && (events & kAlwaysTold) == 0) {
      if (const int error = operation.tells(); error != 0) {
        return {-1, error};
      }
    }
    const IoResult result = operation.goOn(first, static_cast<uint16_t>(events), look);
    return {result.error == 0 ? found : -1, result.error};
  }

 private:
  // What tells that there is something to receive with `flags`.
  static uint32_t eventsFor(int fd, int flags) {
    if ((flags & MSG_OOB) != 0) {
      noteUrgent(fd);
    }
    return (flags & MSG_ERRQUEUE) != 0 ? POLLERR : (flags & MSG_OOB) != 0 ? POLLPRI : POLLIN;
  }

  // The parts that one call can take. Empty ones before them would be all that it takes if there are enough:
  // then it would tell of the end of a file.
  static std::span<const iovec> partsOfOneCall(std::span<const iovec> parts) {
    const auto isFull = [](const iovec& part) { return part.iov_len != 0; };
    const auto numEmpty = std::find_if(parts.begin(), parts.end(), isFull) - parts.begin();
    parts = parts.subspan(static_cast<size_t>(numEmpty));
    return parts.first(std::min<size_t>(parts.size(), IOV_MAX));
  }

  // Returns: the flags before.
  static IoResult makeNonBlocking(const Op& operation, int fd) {
    return operation.use([&]() -> ssize_t {
      const int flags = Sys::flags(fd);
      const bool isDone =
          flags >= 0 && ((flags & O_NONBLOCK) != 0 || Sys::setFlags(fd, flags | O_NONBLOCK) >= 0);
      return isDone ? flags : -1;
    });
  }

  static bool isLocal(const sockaddr* address, socklen_t size) {
    return address != nullptr && size >= sizeof(sa_family_t) && address->sa_family == AF_UNIX;
  }

  // Those of accept(2), but for EOPNOTSUPP, which also tells that the descriptor is no listener.
  static bool isOfThePeer(int error) {
    return error == ECONNABORTED || error == EPROTO || error == ENOPROTOOPT || error == ENETDOWN ||
           error == EHOSTDOWN || error == ENONET || error == EHOSTUNREACH || error == ENETUNREACH;
  }

  static IoResult connectNow(Op& operation, int fd, const sockaddr* address, socklen_t size) {
    const auto begin = [&]() -> ssize_t {
      const int result = Sys::connect(fd, address, size);
      // A connect that a signal ends goes on.
      errno = result < 0 && errno == EINTR ? EINPROGRESS : errno;
      return result;
    };
    // A local socket whose listener has no room says EAGAIN, and poll(2) does not tell when there is. Others
    // say so where the system has no port left for them.
    const IoResult begun = isLocal(address, size) ? operation.runWithPauses(begin) : operation.runOnce(begin);
    if (begun.error != EINPROGRESS && begun.error != EALREADY) {
      return begun;
    }
    // A wait may end early. Then SO_ERROR would tell of no error yet.
    short found = 0;
    const IoResult ready =
        operation.run(POLLOUT, [&] { return operation.isReady(POLLOUT, &found) ? 0 : -1; });
    if (ready.error != 0) {
      return ready;
    }
    int error = 0;
    socklen_t length = sizeof error;
    const IoResult told =
        operation.use([&]() -> ssize_t { return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length); });
    error = told.error != 0 ? told.error : error;
    // The error is told once. Another operation on the socket may have been faster.
    error = error == 0 && (found & POLLHUP) != 0 ? ENOTCONN : error;
    return {error == 0 ? 0 : -1, error};
  }
};

}  // namespace weft::inline v0_1::detail
