// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "io/uring_system.h"
#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// The system calls of weft::io. As the calls themselves, each returns -1 and sets errno where it fails.
struct SocketCalls {
  static ssize_t receive(int fd, void* data, size_t size, int flags) { return ::recv(fd, data, size, flags); }
  static ssize_t send(int fd, const void* data, size_t size, int flags) {
    return ::send(fd, data, size, flags);
  }
  static ssize_t receiveMessage(int fd, msghdr* message, int flags) { return ::recvmsg(fd, message, flags); }
  static ssize_t sendMessage(int fd, const msghdr* message, int flags) {
    return ::sendmsg(fd, message, flags);
  }

  static int accept(int fd, sockaddr* address, socklen_t* size) {
    return ::accept4(fd, address, size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  }
  static int connect(int fd, const sockaddr* address, socklen_t size) { return ::connect(fd, address, size); }

  static int protocol(int fd) {
    int result = -1;
    socklen_t size = sizeof result;
    return ::getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &result, &size) == 0 ? result : -1;
  }
  // Whether a TCP socket has a layer within the system, such as TLS, that receives come through (TCP_ULP).
  static bool hasUpperLayer(int fd) {
    char name[16] = "";  // TCP_ULP_NAME_MAX
    socklen_t size = sizeof name;
    return ::getsockopt(fd, IPPROTO_TCP, TCP_ULP, name, &size) == 0 && size != 0;
  }
};

// `offset`: -1 stands for the file's own position.
struct FileCalls {
  // RWF_NOWAIT: EAGAIN where the call would wait for others or a disk, EOPNOTSUPP where that is unknown.
  static ssize_t readNow(int fd, const iovec* parts, int count, int64_t offset) {
    return callNow(SYS_preadv2, fd, parts, count, offset);
  }
  static ssize_t writeNow(int fd, const iovec* parts, int count, int64_t offset) {
    return callNow(SYS_pwritev2, fd, parts, count, offset);
  }
  static ssize_t readBlocking(int fd, const iovec* parts, int count, int64_t offset) {
    return offset < 0 ? ::readv(fd, parts, count) : ::preadv(fd, parts, count, offset);
  }
  static ssize_t writeBlocking(int fd, const iovec* parts, int count, int64_t offset) {
    return offset < 0 ? ::writev(fd, parts, count) : ::pwritev(fd, parts, count, offset);
  }

  static int openFile(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }
  static int sync(int fd) { return ::fsync(fd); }

  static int flags(int fd) { return ::fcntl(fd, F_GETFL); }
  static int setFlags(int fd, int flags) { return ::fcntl(fd, F_SETFL, flags); }
  static int status(int fd, struct stat* result) { return ::fstat(fd, result); }

 private:
  // The calls themselves, as musl has no function for them before its version 1.2.5.
  static ssize_t callNow(long call, int fd, const iovec* parts, int count, int64_t offset) {
    constexpr int kNoWait = 8;  // RWF_NOWAIT
    const auto position = static_cast<uint64_t>(offset);
    // A kernel of 32 bits takes half of the position from each word. Others find all of it in the first.
    return ::syscall(call, fd, parts, count, static_cast<unsigned long>(position),
                     static_cast<unsigned long>(position >> 32), kNoWait);
  }
};

struct WaitCalls {
  static int makeWakeFd() { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
  static int makeEpoll() { return ::epoll_create1(EPOLL_CLOEXEC); }
  static int control(int epoll, int operation, int fd, epoll_event* event) {
    return ::epoll_ctl(epoll, operation, fd, event);
  }

  // Both wait until `deadline`, which may be kNever, or TimePoint::min(): then they only look.
  static int wait(int epoll, epoll_event* events, int most, TimePoint deadline);
  static int poll(pollfd* descriptors, nfds_t count, TimePoint deadline);
};

// All of them, as a policy class: tests put errors in their place.
struct IoSystem : SocketCalls, FileCalls, WaitCalls, UringSystem {};

}  // namespace weft::inline v0_1::detail
