// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "split.h"

#include <cstdio>
#include <cstdlib>

namespace debugged {
namespace {

volatile int one = 1;

[[gnu::cold, gnu::noinline]] void complain(int number) { std::printf("never %d\n", number); }

[[gnu::noinline]] int waitInSplit(const weft::Event& event, int number) {
  volatile char space[400] = {};  // a frame that the cold part does not have yet
  event.wait();
  if (one != 1) {
    complain(number);
    complain(space[number]);
    std::abort();
  }
  return space[number] + 1;
}

}  // namespace

weft::Task splitTask(const weft::Event& event) {
  return weft::Task([event] { one = waitInSplit(event, one); });
}

}  // namespace debugged
