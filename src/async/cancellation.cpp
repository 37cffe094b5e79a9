// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/cancellation.h"

namespace weft::inline v0_1 {

const char* TaskCanceled::what() const noexcept {
  return "weft::TaskCanceled: the work was asked to stop by its std::stop_token, and ended early";
}

const char* TimedOut::what() const noexcept {
  return "weft::TimedOut: there was no result within the time that was given for it";
}

}  // namespace weft::inline v0_1
