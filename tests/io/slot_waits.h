// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <poll.h>

#include <functional>
#include <mutex>
#include <utility>

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "crew.h"
#include "io/descriptor_table.h"
#include "io/readiness.h"

namespace weft::tests {

// Returns: how many wait for a descriptor: fibers, and cases of selects.
inline int numInSlot(int fd) {
  int error = 0, count = 0;
  detail::DescriptorSlot& slot = *detail::descriptorSlot(fd, error);
  const std::scoped_lock guard(slot.lock);
  for (const detail::Waiter* waiter = slot.waiting.front(); waiter != nullptr; waiter = waiter->next) {
    ++count;
  }
  return count;
}

// Starts wait(), which waits to read from `fd`, as a task of the calling task's worker, and has its reactor
// report that there is something. Destroyed, it has ended.
class WithFalseReport {
 public:
  WithFalseReport(int fd, std::function<void()> wait) : fd_(fd) {
    schedule(Task(
        [this, wait = std::move(wait), done = done_] {
          wait();
          isOver_ = true;
          done.done();
        },
        Task::Flags::SameThread));
    awaitThat([this] { return numInSlot(fd_) == 1; });
    int error = 0;
    detail::WaitList claimed;
    detail::takeReady(*detail::descriptorSlot(fd_, error), fd_, *detail::knownReactor(), 0, POLLIN, claimed);
    detail::wakeAll(claimed);
  }
  ~WithFalseReport() { done_.wait(); }
  WithFalseReport(const WithFalseReport&) = delete;
  WithFalseReport& operator=(const WithFalseReport&) = delete;

  // Returns: whether it waits again; false if it is over.
  bool goesOn() const {
    awaitThat([this] { return isOver_ || numInSlot(fd_) == 1; });
    return !isOver_;
  }

 private:
  const int fd_;
  const WaitGroup done_{1};
  bool isOver_ = false;
};

}  // namespace weft::tests
