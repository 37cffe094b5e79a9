// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

// What include/weft/detail/base/ticks.h declares, by the model's clock: see machine.cpp.
namespace weft::inline v0_1::detail {

uint64_t ticks();

constexpr float ticksPerMicrosecond() { return 1000; }
constexpr uint64_t ticksIn(uint64_t microseconds) { return microseconds * 1000; }
constexpr float microsecondsIn(uint64_t ticks) { return static_cast<float>(ticks) / 1000; }

}  // namespace weft::inline v0_1::detail
