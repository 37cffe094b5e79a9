// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <poll.h>

#include <cerrno>
#include <cstdint>
#include <span>

#include "io/descriptor_table.h"
#include "io/io_call.h"
#include "io/io_retry.h"
#include "io/result.h"
#include "io/system.h"
#include "weft/io/descriptor.h"

// The operations on sockets, and the wait for any descriptor, over a policy for system calls.
namespace weft::inline v0_1::detail {

template <class Sys>
struct PosixOperations {
  using Op = IoRetry<Sys>;

  static IoResult receive(int fd, std::span<std::byte> buffer, int flags, const io::Wait& limits) {
    if (buffer.empty()) {
      return {-1, EINVAL};
    }
    return Op(fd, limits, "io::recv").run(eventsFor(fd, flags), [&] {
      return Sys::receive(fd, buffer.data(), buffer.size(), flags | MSG_DONTWAIT);
    });
  }

  // For a Socket, whose `fd` others may close.
  static IoResult receiveBySocket(int fd, std::span<std::byte> buffer, const io::Wait& limits,
                                  const io::UniqueFd* owner = nullptr) {
    if (buffer.empty()) {
      return {-1, EINVAL};
    }
    return Op(fd, limits, "io::recv", owner).receive(buffer.size(), [&] {
      return Sys::receive(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    });
  }

  static IoResult send(int fd, std::span<const std::byte> data, int flags, const io::Wait& limits,
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
    // The receiver that the message names may have no room, which poll(2) does not report.
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
    // epoll(7) refuses what never changes; poll(2), for a thread, says that it is readable and writable.
    constexpr short kAlwaysTold = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
    if (wouldWait(first) && currentFiber == nullptr && (events & kAlwaysTold) == 0) {
      if (const int error = errorOfEpoll(operation, fd); error != 0) {
        return {-1, error};
      }
    }
    const IoResult result = operation.goOn(first, static_cast<uint16_t>(events), look);
    return {result.error == 0 ? found : -1, result.error};
  }

 private:
  // Returns: 0, or an error number: EPERM if the descriptor never changes, so that poll(2) waits in vain.
  static int errorOfEpoll(const Op& operation, int fd) {
    const io::UniqueFd epoll(Sys::makeEpoll());
    epoll_event event{POLLPRI, {.u64 = 0}};
    return operation
        .use([&]() -> ssize_t { return epoll ? Sys::control(epoll.get(), EPOLL_CTL_ADD, fd, &event) : -1; })
        .error;
  }

  // What tells that there is something to receive with `flags`.
  static uint32_t eventsFor(int fd, int flags) {
    if ((flags & MSG_OOB) != 0) {
      noteUrgent(fd);
    }
    return (flags & MSG_ERRQUEUE) != 0 ? POLLERR : (flags & MSG_OOB) != 0 ? POLLPRI : POLLIN;
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
    // EAGAIN: a local listener has no room, which poll(2) does not report; otherwise no port is left.
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
    // The error is told once: another operation on the socket may have taken it.
    error = error == 0 && (found & POLLHUP) != 0 ? ENOTCONN : error;
    return {error == 0 ? 0 : -1, error};
  }
};

}  // namespace weft::inline v0_1::detail
