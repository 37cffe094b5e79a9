// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "weft/detail/asio/config.h"
#include "weft/detail/asio/operation.h"

#if WEFT_ASIO_CAN_CANCEL

namespace weft::inline v0_1::detail {

// How a stop reaches an operation. A cancellation must not meet a running handler of the operation, nor the
// function that begins it. So the handlers have a strand, made when the operation asks for their executor;
// the stop is posted to it; and the wait passes stops on only once the operation has begun.
class AsioStop {
 public:
  asio::any_io_executor strandOver(const asio::any_io_executor& executor) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (!strand_) {
      strand_ = asio::make_strand(executor);
    }
    return strand_;
  }
  asio::cancellation_slot slot() noexcept { return signal_.slot(); }

  // The operation calls its handler, in the strand, or destroys it. Its context may go before the wait ends.
  void setEnded() {
    asio::any_io_executor left;
    const std::lock_guard<std::mutex> guard(lock_);
    isEnded_ = true;
    left.swap(strand_);
  }

  // Any thread. What it posts may run after the operation, and after the wait.
  static void request(const std::shared_ptr<AsioStop>& self) {
    if (!tryPost(self)) {
      self->emit();  // an operation that has one handler, and calls it where it likes
    }
  }

 private:
  // Under the lock: the context may go once setEnded() has returned.
  static bool tryPost(const std::shared_ptr<AsioStop>& self) {
    const std::lock_guard<std::mutex> guard(self->lock_);
    if (!self->strand_) {
      return false;
    }
    asio::post(self->strand_, [self] { self->emit(); });
    return true;
  }

  void emit() {
    {
      const std::lock_guard<std::mutex> guard(lock_);
      if (isEnded_) {
        return;
      }
    }
    signal_.emit(asio::cancellation_type::all);
  }

  std::mutex lock_;
  asio::any_io_executor strand_;  // guarded by lock_
  bool isEnded_ = false;          // guarded by lock_
  asio::cancellation_signal signal_;
};

// The handler of an operation that a stop cancels. `stop` may be null, `executor` empty.
template <class... Args>
class AsioStoppableHandler {
 public:
  using cancellation_slot_type = asio::cancellation_slot;

  AsioStoppableHandler(AsioOperation<Args...>& operation, std::shared_ptr<AsioStop> stop,
                       const asio::any_io_executor& executor)
      : handler_(operation), stop_(std::move(stop)), executor_(executor) {}
  AsioStoppableHandler(AsioStoppableHandler&&) noexcept = default;
  AsioStoppableHandler& operator=(AsioStoppableHandler&&) = delete;
  ~AsioStoppableHandler() { setEnded(); }

  void operator()(Args... args) {
    setEnded();
    handler_(std::forward<Args>(args)...);
  }

  cancellation_slot_type get_cancellation_slot() const noexcept {
    return stop_ != nullptr ? stop_->slot() : cancellation_slot_type();
  }
  // Returns: the executor for handlers that would otherwise have `executor`.
  asio::any_io_executor executorOver(const asio::any_io_executor& executor) const {
    const asio::any_io_executor& under = executor_ ? executor_ : executor;
    return stop_ != nullptr ? stop_->strandOver(under) : under;
  }

 private:
  void setEnded() {
    if (stop_ != nullptr) {
      stop_->setEnded();
    }
  }

  AsioHandler<Args...> handler_;
  std::shared_ptr<AsioStop> stop_;
  asio::any_io_executor executor_;
};

}  // namespace weft::inline v0_1::detail

#endif
