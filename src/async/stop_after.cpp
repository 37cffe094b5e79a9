// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/future/stop_after.h"

#include <utility>

#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/shared.h"

namespace weft::inline v0_1 {
namespace detail {

// The timer has a reference until it has expired or is cancelled, and the StopAfter has the other one.
struct StopTimer : Timer, ReferenceCount {
  StopTimer(TimePoint time, std::stop_source toStop)
      : Timer(time, &expireThis), ReferenceCount(2), source(std::move(toStop)) {}

  static void expireThis(Timer& timer) {
    auto& self = static_cast<StopTimer&>(timer);
    self.source.request_stop();
    self.release();
  }

  void release() noexcept {
    if (releaseReference(false)) {
      NodeMemory<StopTimer>::destroy(*this);
    }
  }

  std::stop_source source;
};

}  // namespace detail

StopAfter::StopAfter(detail::TimePoint deadline, const std::stop_token& parent)
    : timer_(detail::NodeMemory<detail::StopTimer>::make(deadline, source_)) {
  detail::EscapedException error;
  error.capture([&] { detail::startTimer(*timer_); });
  if (error) {
    detail::NodeMemory<detail::StopTimer>::destroy(*timer_);
    error.rethrow();
  }
  if (parent.stop_possible()) {
    onParentsStop_.emplace(parent, Stop{source_});
  }
}

StopAfter::~StopAfter() {
  onParentsStop_.reset();
  if (detail::cancelTimer(*timer_)) {
    timer_->release();
  } else {
    source_.request_stop();  // The time has come, but the timer's thread may have been stopped on its way.
  }
  timer_->release();
}

}  // namespace weft::inline v0_1
