// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "crew.h"

#include <weft/defer.h>

void Crew::launch(int size, const weft::Event& start, const weft::WaitGroup& done) {
  for (int i = 1; i <= size; i++) {
    weft::schedule([this, i, start, done] {
      defer(done.done());
      start.wait();
      weft::lock lock(mutex_);
      sum_ += i;
    });
  }
}

int Crew::sum() {
  weft::lock lock(mutex_);
  return sum_;
}
