// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>

#include "io/bell.h"
#include "io/descriptors.h"
#include "io/system.h"
#include "weft/detail/base/deadline.h"

namespace weft::detail {

// A worker's epoll. It has the descriptors that fibers of the worker have waited for, and the bell of the
// worker's parker.
//
// A registration is armed for one report (EPOLLONESHOT), each time anew when a fiber begins to wait. That is
// a system call for each wait. In return nothing is remembered that could be wrong: a
// descriptor may be closed, and its number used again, without weft's knowing. The system looks at the
// descriptor when it is armed, so that nothing is missed that came before. And a descriptor for which nobody
// waits wakes nobody.
//
// Rejected: a registration that lasts, and remembers between waits what was reported (EPOLLET). After a
// close() that weft does not know of, a fiber would wait for a descriptor that is not registered any more.
template <class Sys>
class EpollReactor final : public ReadinessReactor {
 public:
  // Returns: null where the system grants no descriptor, or no memory is left; `error` says which.
  static std::unique_ptr<EpollReactor> make(Parker<>& parker, int& error) noexcept {
    if (!giveBellOnce<Sys>(parker)) {
      error = errno;
      return nullptr;
    }
    const int epoll = Sys::makeEpoll();
    epoll_event event{EPOLLIN | EPOLLET, {.u64 = kBell}};
    if (epoll < 0 || Sys::control(epoll, EPOLL_CTL_ADD, parker.bell(), &event) != 0) {
      error = errno;
      closeIf(epoll);
      return nullptr;
    }
    auto* const made = new (std::nothrow) EpollReactor(epoll);
    if (made == nullptr) {
      error = ENOMEM;
      closeIf(epoll);
    }
    return std::unique_ptr<EpollReactor>(made);
  }

  ~EpollReactor() override { ::close(epoll_); }

  bool poll() override { return wakeReady(Sys::wait(epoll_, events_, kMostEvents, TimePoint::min())); }

  bool park(Parker<>& parker, TimePoint deadline) override {
    if (!parker.beginElsewhere()) {
      return true;
    }
    const int count = Sys::wait(epoll_, events_, kMostEvents, deadline);
    const bool hasPermit = parker.endElsewhere();
    return wakeReady(count) || hasPermit;
  }

  int arm(int fd, uint32_t events, bool isKnown) override {
    const int error = control(isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, events);
    if (error == ENOENT) {
      return control(EPOLL_CTL_ADD, fd, events);
    }
    return error == EEXIST ? control(EPOLL_CTL_MOD, fd, events) : error;
  }

 private:
  static constexpr uint64_t kBell = ~uint64_t{0};
  static constexpr int kMostEvents = 64;  // at a time: the fibers that these wake are not put off long

  explicit EpollReactor(int epoll) : epoll_(epoll) {}

  static void closeIf(int epoll) {
    if (epoll >= 0) {
      ::close(epoll);
    }
  }

  int control(int operation, int fd, uint32_t events) {
    epoll_event event{events | EPOLLONESHOT, {.u64 = static_cast<uint32_t>(fd)}};
    return Sys::control(epoll_, operation, fd, &event) == 0 ? 0 : errno;
  }

  // `count`: of events_; -1 where a signal has ended the wait.
  bool wakeReady(int count) {
    WaitList claimed;
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events_[i];
      if (event.data.u64 == kBell) {
        continue;
      }
      const int fd = static_cast<int>(event.data.u64);
      int error = 0;
      DescriptorSlot* const slot = descriptorSlot(fd, error);
      takeReady(*slot, fd, *this, event.events, claimed);
    }
    wakeAll(claimed);
    return !claimed.isEmpty();
  }

  const int epoll_;
  epoll_event events_[kMostEvents];
};

}  // namespace weft::detail
