// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "os/clock_reading.h"

namespace weft::inline v0_1::detail {

// After fork() the child has one thread: the workers are gone, and the locks that they held stay locked. If a
// scheduler existed at the time of the fork, the child may only exec() or _exit(). The assert functions below
// end the program with a message when the child does anything else, unless that needs no scheduler.

// Has forks of the process noticed from now on. Cheap after the first call.
void watchForks() noexcept;

// Counts the schedulers that exist, those of weft::fair too: each has one of these. The first one decides on
// the fences (agreeOnFences()) and calibrates the ticks, so it is made before all that calls
// Sync::isLightFenceFree() or keeps a number of ticks.
struct SchedulerExists {
  SchedulerExists() noexcept;
  ~SchedulerExists();
  SchedulerExists(const SchedulerExists&) = delete;
  SchedulerExists& operator=(const SchedulerExists&) = delete;
};

// Lists the SchedulerCores, for who looks from outside: each has one of these. What the list leads to is
// complete: a core enters it after its base is made, and leaves it before its base is destroyed.
struct ListedScheduler {
  ListedScheduler() noexcept;
  ~ListedScheduler();
  ListedScheduler(const ListedScheduler&) = delete;
  ListedScheduler& operator=(const ListedScheduler&) = delete;

  ListedScheduler* older = nullptr;
};

// When the first SchedulerCore was made.
extern constinit ClockReading firstClockReading;

// Of the list. For who looks from outside, without the lock that guards the list.
extern constinit ListedScheduler* newestScheduler;

// Returns: whether the process is such a child.
bool isChildWithoutWorkers() noexcept;

// In such a child, ends the program with a message that names `what`.
void assertNotForked(const char* what) noexcept;

// Like assertNotForked(), but only where the fork took the thread's binding away: a thread that was not bound
// made its mistake before the fork, and the message should name that mistake.
void assertBindingNotLost(const char* what) noexcept;

// Called on a thread of weft's own after a function of the user's: ends the program with a message that names
// `what` if that function has forked and returns in the child, even where no scheduler existed.
// Requires: watchForks() was called before the function.
void assertReturnsInParent(const char* what) noexcept;

}  // namespace weft::inline v0_1::detail
