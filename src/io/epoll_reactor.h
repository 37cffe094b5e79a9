// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>

#include "io/descriptor_table.h"
#include "io/file_ring.h"
#include "io/system.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/park/parker.h"

namespace weft::inline v0_1::detail {

// Gives the parker of the calling thread its wake eventfd, if it has none.
// Returns: false where the system grants no descriptor; errno says why.
template <class Sys>
bool setWakeFdOnce(Parker<>& parker) noexcept {
  if (parker.wakeFd() == StdSync::kNoWakeFd) {
    const int wakeFd = Sys::makeWakeFd();
    if (wakeFd < 0) {
      return false;
    }
    parker.setWakeFd(wakeFd);
  }
  return true;
}

// A worker's epoll. It has the descriptors that fibers of the worker have waited for, and the wake eventfd of
// the worker's parker, to which the worker's io_uring writes too.
//
// A registration is armed for one report (EPOLLONESHOT), anew for each wait. So nothing is remembered that
// could be wrong: a number may be reused without weft's knowing. The system looks at the descriptor when it
// is armed, so that nothing earlier is missed. One for which nobody waits wakes nobody.
//
// That is a system call for each wait: a fifth of what it takes to receive and to send a small message. So
// the registration of a Socket's receive lasts (EPOLLET): see LastingRegistration.
//
// Rejected: lasting registrations without EPOLLET. If the file of a closed descriptor lives on, in another
// process or by another number, its registration does too, and nobody can end its reports: each sleep would
// end at once. With EPOLLET there is one report for what arrives, which nobody heeds.
template <class Sys>
class EpollReactor final : public ReadinessReactor {
 public:
  // Returns: null where the system grants no descriptor, or no memory is left; `error` says which.
  static std::unique_ptr<EpollReactor> make(Parker<>& parker, int& error) noexcept {
    if (!setWakeFdOnce<Sys>(parker)) {
      error = errno;
      return nullptr;
    }
    const int epoll = Sys::makeEpoll();
    epoll_event event{EPOLLIN | EPOLLET, {.u64 = kWakeFd}};
    if (epoll < 0 || Sys::control(epoll, EPOLL_CTL_ADD, parker.wakeFd(), &event) != 0) {
      error = errno;
      closeIf(epoll);
      return nullptr;
    }
    auto* const made = new (std::nothrow) EpollReactor(epoll, parker.wakeFd());
    if (made == nullptr) {
      error = ENOMEM;
      closeIf(epoll);
    }
    return std::unique_ptr<EpollReactor>(made);
  }

  ~EpollReactor() override { ::close(epoll_); }

  bool poll() override {
    WaitList claimed;
    take(Sys::wait(epoll_, events_, kMostEvents, TimePoint::min()), claimed);
    wakeAll(claimed);
    return !claimed.isEmpty();
  }

  // What the ring takes may be done at once.
  bool park(Parker<>& parker, TimePoint deadline) override {
    if (!parker.beginElsewhere()) {
      return true;
    }
    WaitList claimed;
    lookIntoRing(claimed);
    const bool isToSleep = claimed.isEmpty() && (ring_ == nullptr || !ring_->isBehind());
    const int count = Sys::wait(epoll_, events_, kMostEvents, isToSleep ? deadline : TimePoint::min());
    const bool hasPermit = parker.endElsewhere();
    take(count, claimed);
    wakeAll(claimed);
    return !claimed.isEmpty() || hasPermit || !isToSleep;
  }

  int arm(int fd, uint32_t events, bool isKnown) override {
    return control(fd, events | EPOLLONESHOT, dataOf(fd, kOnce), isKnown);
  }

  int armLasting(int fd, uint32_t number, bool isKnown) override {
    return control(fd, EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLET, dataOf(fd, number), isKnown);
  }

  void forget(int fd) override {
    epoll_event unused{};
    Sys::control(epoll_, EPOLL_CTL_DEL, fd, &unused);
  }

  bool isPlainTcp(int fd) const override {
    return Sys::protocol(fd) == IPPROTO_TCP && !Sys::hasUpperLayer(fd);
  }

  FileQueue* files() override {
    if (ring_ == nullptr) {
      ring_ = FileRing<Sys>::make(wakeFd_);
    }
    return ring_.get();
  }

 private:
  static constexpr uint64_t kWakeFd = ~uint64_t{0};
  static constexpr uint32_t kOnce = 0;    // the number of a registration that does not last
  static constexpr int kMostEvents = 64;  // at a time: the fibers that these wake are not put off long

  EpollReactor(int epoll, int wakeFd) : epoll_(epoll), wakeFd_(wakeFd) {}

  static void closeIf(int epoll) {
    if (epoll >= 0) {
      ::close(epoll);
    }
  }

  static uint64_t dataOf(int fd, uint32_t number) {
    return uint64_t{number} << 32 | static_cast<uint32_t>(fd);
  }

  int control(int fd, uint32_t events, uint64_t data, bool isKnown) {
    epoll_event event{events, {.u64 = data}};
    const auto call = [&](int operation) {
      return Sys::control(epoll_, operation, fd, &event) == 0 ? 0 : errno;
    };
    const int error = call(isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD);
    if (error == ENOENT) {
      return call(EPOLL_CTL_ADD);
    }
    return error == EEXIST ? call(EPOLL_CTL_MOD) : error;
  }

  void lookIntoRing(WaitList& claimed) {
    if (ring_ != nullptr) {
      ring_->look(claimed);
    }
  }

  // `count`: of events_; -1 where a signal has ended the wait.
  void take(int count, WaitList& claimed) {
    lookIntoRing(claimed);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events_[i];
      if (event.data.u64 != kWakeFd) {
        const int fd = static_cast<int>(static_cast<uint32_t>(event.data.u64));
        const auto number = static_cast<uint32_t>(event.data.u64 >> 32);
        int error = 0;
        takeReady(*descriptorSlot(fd, error), fd, *this, number, event.events, claimed);
      }
    }
  }

  const int epoll_;
  const int wakeFd_;
  std::unique_ptr<FileRing<Sys>> ring_;
  epoll_event events_[kMostEvents];
};

}  // namespace weft::inline v0_1::detail
