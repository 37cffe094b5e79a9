// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>

// What include/weft/detail/base/sync.h declares, but for StdSync: that is in seam.h, over the checker.
namespace weft::inline v0_1::detail {

using TimePoint = std::chrono::steady_clock::time_point;

inline constexpr size_t kCacheLine = 64;

void agreeOnFences();

inline void prefetchForWrite(const void*) {}

}  // namespace weft::inline v0_1::detail
