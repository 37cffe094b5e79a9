// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// What has the flight recorder's events written to a file by itself. Defined in scheduler/core, which has the
// thread that writes.
namespace weft::inline v0_1::detail {

// Called when events begin to be recorded. `path`: where they are written to, or null. `isThreadWanted`:
// whether lateWatch may ask for that.
void prepareTriggers(const char* path, bool isThreadWanted);

// Has the dump's thread write a file for lateWatch. Returns: false if there is no such thread.
bool requestLateDump() noexcept;

}  // namespace weft::inline v0_1::detail
