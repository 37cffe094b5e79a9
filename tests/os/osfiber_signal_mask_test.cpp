// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>

#include "test_fiber.h"

using weft::tests::TestFiber;
using OSFiberSignalMaskTest = weft::tests::WithOSFibers;

namespace {

bool isBlocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

void change(int how, int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(how, &set, nullptr);
}

TEST_F(OSFiberSignalMaskTest, FreshFiberHasTheThreadsMask) {
  bool wasBlocked = false;
  TestFiber fiber([&](TestFiber&) { wasBlocked = isBlocked(SIGUSR2); });
  change(SIG_BLOCK, SIGUSR2);
  finish(fiber);
  change(SIG_UNBLOCK, SIGUSR2);
  EXPECT_TRUE(wasBlocked);
}

TEST_F(OSFiberSignalMaskTest, SignalMaskIsTheThreads) {
  bool wasBlocked[3] = {};
  TestFiber fiber([&](TestFiber& f) {
    wasBlocked[0] = isBlocked(SIGUSR2);
    change(SIG_BLOCK, SIGUSR2);
    f.suspend();
    wasBlocked[2] = isBlocked(SIGUSR2);
  });
  fiber.resumeFrom(self);
  wasBlocked[1] = isBlocked(SIGUSR2);
  change(SIG_UNBLOCK, SIGUSR2);
  finish(fiber);
  EXPECT_FALSE(wasBlocked[0]);
  EXPECT_TRUE(wasBlocked[1]);
  EXPECT_FALSE(wasBlocked[2]);
}

}  // namespace
