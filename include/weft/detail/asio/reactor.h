// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "weft/debug.h"
#include "weft/detail/asio/config.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/park/parker.h"
#include "weft/detail/wait/reactor.h"
#include "weft/task.h"

namespace weft::inline v0_1::detail {

// Calls run(), which runs an io_context.
template <class Run>
void runHandlers(const Run& run) {
  detail::callOrDie([](void* self) { (*static_cast<const Run*>(self))(); }, const_cast<Run*>(&run),
                    "a handler that a weft::AsioContext calls in place");
}
inline void assertNotStopped(bool isStopped) {
  WEFT_ASSERT(!isStopped,
              "the io_context of a weft::AsioContext was stopped, so that none of its operations would ever "
              "end. Cancel them, and destroy the AsioContext.");
}

// What a worker with an io_context polls, and sleeps in. Besides the program's operations the context has a
// wait for the wake eventfd of the worker's parker, and a timer for the end of the worker's sleep.
// (run_one_until() would round that up to a millisecond.)
//
// It does not call the program's handlers, since they may wait: the executor of an AsioContext makes tasks of
// them, for the worker once the io_context has returned. So it need not write to its own wake eventfd.
class AsioReactor final : public Reactor {
 public:
  // Calls run(task) for each task, on the worker.
  using Run = void (*)(void* to, Task&& task);

  // On the worker.
  // Errors: throws std::system_error if the system grants no descriptor.
  AsioReactor(asio::io_context& context, Run run, void* to)
      : Reactor(Use::Asio),
        context_(context),
        run_(run),
        to_(to),
        timer_(context),
        wakeFd_(context, wakeFdOfOwnParker()) {}
  // What is left in the context is destroyed with it, uncalled.
  ~AsioReactor() override { wakeFd_.release(); }

  bool poll() override {
    runReady(0);
    return handOver();
  }

  bool park(Parker<>& parker, TimePoint deadline) override {
    EscapedException refusal;
    refusal.capture([&] {
      awaitWakeFd();
      setTimer(deadline);
    });
    if (refusal) [[unlikely]] {
      return pauseWithoutMemory();
    }
    if (!parker.beginElsewhere()) {
      return true;
    }
    sleep();
    const bool hasPermit = parker.endElsewhere();
    runReady(1);
    return handOver() || hasPermit;
  }

  // For the executor, with a handler whose turn has come.
  // Returns: whether the calling thread is in poll() or park() of this reactor, which takes `task`.
  bool takeIfRunning(Task& task) {
    if (running != this) {
      return false;
    }
    tasks_.push_back(std::move(task));
    return true;
  }

  // For the executor, with a handler of useFiber, which wakes a fiber.
  // Returns: whether the calling thread is in poll() or park() of this reactor.
  bool noteWakeIfRunning() noexcept {
    if (running != this) {
      return false;
    }
    hasWoken_ = true;
    return true;
  }

 private:
  static constexpr size_t kMostAtOnce = 64;  // handlers, so that the fibers that these wake run soon

  // While the io_context runs on this thread. What it calls of the program's by another executor, such as
  // asio::system_executor, may block the thread.
  class Running {
   public:
    explicit Running(AsioReactor& reactor) : outer_(std::exchange(running, &reactor)) {}
    ~Running() { running = outer_; }
    Running(const Running&) = delete;

   private:
    AsioReactor* const outer_;
    const WithoutFibers withoutFibers_;
  };

  static int wakeFdOfOwnParker() {
    Parker<>& parker = detail::currentParker();
    if (parker.wakeFd() == StdSync::kNoWakeFd) {
      const int wakeFd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
      if (wakeFd < 0) {
        detail::throwOrDie(detail::makeException<kExceptionsAreTyped>(
            std::system_error(errno, std::generic_category(), "weft::AsioContext: eventfd")));
      }
      parker.setWakeFd(wakeFd);
    }
    return parker.wakeFd();
  }

  void runReady(size_t count) {
    const Running scope(*this);
    runHandlers([&] {
      while (count < kMostAtOnce && context_.poll_one() != 0) {
        ++count;
      }
    });
    assertNotStopped(context_.stopped());
  }

  void sleep() {
    const Running scope(*this);
    runHandlers([&] {
      do {
        hasTimerChanged_ = false;
        context_.run_one();
      } while (hasTimerChanged_);
    });
    assertNotStopped(context_.stopped());
  }

  // Nothing would wake the worker, so it looks again after a while, and asks for memory again.
  [[gnu::cold, gnu::noinline]] bool pauseWithoutMemory() {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    runReady(0);
    handOver();
    return true;
  }

  // Returns: whether there are tasks, or fibers that were woken.
  bool handOver() {
    const bool hasWork = std::exchange(hasWoken_, false) || !tasks_.empty();
    for (Task& task : tasks_) {
      run_(to_, std::move(task));
    }
    tasks_.clear();
    return hasWork;
  }

  void awaitWakeFd() {
    if (!isWakeFdAwaited_) {
      wakeFd_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const AsioErrorCode& error) {
        if (!error) {
          uint64_t wakes = 0;
          (void)!::read(wakeFd_.native_handle(), &wakes, sizeof wakes);
          isWakeFdAwaited_ = false;
        }
      });
      isWakeFdAwaited_ = true;
    }
  }

  void setTimer(TimePoint deadline) {
    if (deadline == timerSet_) {
      return;
    }
    timerSet_ = kNever;  // unless the wait begins
    if (deadline == kNever) {
      timer_.cancel();
      return;
    }
    timer_.expires_at(deadline);
    timer_.async_wait([this](const AsioErrorCode& error) {
      hasTimerChanged_ = static_cast<bool>(error);
      timerSet_ = error ? timerSet_ : kNever;
    });
    timerSet_ = deadline;
  }

  inline static constinit thread_local AsioReactor* running = nullptr;

  asio::io_context& context_;
  const Run run_;
  void* const to_;
  asio::steady_timer timer_;
  asio::posix::stream_descriptor wakeFd_;  // the last that may throw: its destructor would close it
  bool isWakeFdAwaited_ = false;
  bool hasTimerChanged_ = false;  // the handler of a timer that was set anew was called
  bool hasWoken_ = false;         // a handler has woken a fiber since the last handOver()
  TimePoint timerSet_ = kNever;
  std::vector<Task> tasks_;
};

}  // namespace weft::inline v0_1::detail
