// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "in_task.h"
#include "io/file_transfer.h"
#include "io/posix_operations.h"
#include "with_scheduler.h"

// The operations over a system whose calls fail as it is told.
namespace weft::inline v0_1::detail {

// What the next calls of a kind do instead of what they would do.
struct Faults {
  std::vector<int> errors;        // the first calls fail with these, in this order
  size_t mostBytes = ~size_t{0};  // transfers are this short
  int numCalls = 0;
  std::function<void()> before{};  // called before a call that fails

  // Returns: whether the call fails.
  bool fails() {
    const auto number = static_cast<size_t>(numCalls++);
    if (number < errors.size() && errors[number] != 0) {
      if (before) {
        before();
      }
      errno = errors[number];
      return true;
    }
    return false;
  }
};

inline thread_local Faults transfers, messages, flagChanges, accepts, connects;
inline thread_local Faults epollWaits, controls, wakeFds, epolls, polls;
inline thread_local int numFlagLooks = 0;
inline thread_local bool hasLayer = false;  // of TLS, as all TCP sockets then

struct FaultySystem : IoSystem {
  static ssize_t receive(int fd, void* data, size_t size, int flags) {
    return transfers.fails() ? -1 : IoSystem::receive(fd, data, std::min(size, transfers.mostBytes), flags);
  }
  static ssize_t send(int fd, const void* data, size_t size, int flags) {
    return transfers.fails() ? -1 : IoSystem::send(fd, data, std::min(size, transfers.mostBytes), flags);
  }
  static ssize_t sendMessage(int fd, const msghdr* message, int flags) {
    return messages.fails() ? -1 : IoSystem::sendMessage(fd, message, flags);
  }
  static bool hasUpperLayer(int fd) { return hasLayer || IoSystem::hasUpperLayer(fd); }
  static int flags(int fd) {
    ++numFlagLooks;
    return IoSystem::flags(fd);
  }
  static int setFlags(int fd, int flags) { return flagChanges.fails() ? -1 : IoSystem::setFlags(fd, flags); }
  static ssize_t readNow(int fd, const iovec* parts, int count, int64_t offset) {
    const iovec part{parts->iov_base, std::min(parts->iov_len, transfers.mostBytes)};
    return transfers.fails() ? -1 : IoSystem::readNow(fd, &part, count, offset);
  }
  static ssize_t writeNow(int fd, const iovec* parts, int count, int64_t offset) {
    const iovec part{parts->iov_base, std::min(parts->iov_len, transfers.mostBytes)};
    return transfers.fails() ? -1 : IoSystem::writeNow(fd, &part, count, offset);
  }
  static int accept(int fd, sockaddr* address, socklen_t* size) {
    return accepts.fails() ? -1 : IoSystem::accept(fd, address, size);
  }
  static int connect(int fd, const sockaddr* address, socklen_t size) {
    return connects.fails() ? -1 : IoSystem::connect(fd, address, size);
  }
  static int makeWakeFd() { return wakeFds.fails() ? -1 : IoSystem::makeWakeFd(); }
  static int makeEpoll() { return epolls.fails() ? -1 : IoSystem::makeEpoll(); }
  static int control(int epoll, int operation, int fd, epoll_event* event) {
    return controls.fails() ? -1 : IoSystem::control(epoll, operation, fd, event);
  }
  static int wait(int epoll, epoll_event* events, int most, TimePoint deadline) {
    return epollWaits.fails() ? -1 : IoSystem::wait(epoll, events, most, deadline);
  }
  static int poll(pollfd* descriptors, nfds_t count, TimePoint deadline) {
    return polls.fails() ? -1 : IoSystem::poll(descriptors, count, deadline);
  }
};

using Faulty = PosixOperations<FaultySystem>;
using FaultyFiles = FileTransfer<FaultySystem>;

inline iovec partOf(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

// One thread, so that it has all the faults; in a task, and without a scheduler.
class IoFaultsTest : public ::testing::TestWithParam<bool> {
 protected:
  void TearDown() override {
    transfers = messages = flagChanges = accepts = connects = Faults();
    epollWaits = controls = wakeFds = epolls = polls = Faults();
    hasLayer = false;
  }

  template <class F>
  void run(F f) {
    if (!GetParam()) {
      f();
      return;
    }
    Scheduler scheduler(tests::smallConfig(0));
    scheduler.bind();
    tests::inTask(f);
    Scheduler::unbind();
  }

  // Reads once from `fd`.
  static IoResult read(int fd, const io::Wait& wait = {}) {
    const iovec part{buffer, sizeof buffer};
    return FaultyFiles::readParts(fd, {&part, 1}, -1, wait, "io::read");
  }

  static inline std::byte buffer[64];
  const io::Wait never_{};
};

}  // namespace weft::inline v0_1::detail
