// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/io/signal_case.h"

#include <poll.h>

#include <optional>
#include <system_error>

namespace weft::inline v0_1::detail {

SignalCase::SignalCase(io::Signals& from) : ReadinessCase(POLLIN), signals_(from) {}

void SignalCase::check() const { throwError("io::onNext"); }

void SignalCase::find() { awaitFd(signals_.fd(), &signals_.fd_); }

bool SignalCase::take() {
  std::error_code error;
  if (const std::optional<io::SignalInfo> found = signals_.tryNext(error)) {
    taken_ = *found;
    return succeed();
  }
  return error && fail(error.value());
}

}  // namespace weft::inline v0_1::detail
