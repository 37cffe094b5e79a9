// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace weft::detail {

// After fork() the child has one thread: the workers are gone, and whatever they held stays locked. If a
// scheduler existed at that time, the child may only exec() or _exit(), and these make all else end with a
// message.

// Counts the schedulers that exist.
struct SchedulerExists {
  SchedulerExists() noexcept;
  ~SchedulerExists();
  SchedulerExists(const SchedulerExists&) = delete;
  SchedulerExists& operator=(const SchedulerExists&) = delete;
};

// Ends the program with a message that names `what`, in such a child.
void assertNotForked(const char* what) noexcept;

// The same where the fork took the thread's binding away. A thread to which nothing was bound made its
// mistake before the fork, and is to be told about that one.
void assertBindingNotLost(const char* what) noexcept;

}  // namespace weft::detail
