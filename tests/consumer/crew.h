// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weft/weft.h>

/// Tasks that wait for an event and then add their numbers up.
///
/// Lifetime: a crew must outlive the tasks it launched.
class Crew {
 public:
  /// Schedules `size` tasks, numbered from 1, that wait for `start` and count down `done`.
  void launch(int size, const weft::Event& start, const weft::WaitGroup& done);

  /// Returns: the sum of the numbers of the tasks that got past the event so far.
  int sum();

 private:
  weft::mutex mutex_;
  int sum_ = 0;
};
