// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/detail/park/parker.h>

#include "relacy_sync.h"

namespace weft::model {

// A parker whose owner may sleep elsewhere.
struct WithWakeFd {
  detail::Parker<RelacySync> parker;
  RelacySync::WakeFdState wakeFd;

  void makeWakeFd() { parker.setWakeFd(&wakeFd); }
  // Returns: whether a permit was consumed, before the sleep or at its end.
  bool sleepElsewhere(const detail::TimePoint* deadline) {
    if (!parker.beginElsewhere()) {
      return true;
    }
    wakeFd.sleep(deadline);
    return parker.endElsewhere();
  }
};

}  // namespace weft::model
