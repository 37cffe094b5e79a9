// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// This program hangs: two tasks each hold a lock that the other one wants. docs/debugging.md shows how to
// find that out.

#include <cstdio>

#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

struct Account {
  weft::mutex mutex;
  int balance = 100;
};

void transfer(Account& from, Account& to, int amount, weft::WaitGroup both) {
  weft::lock lockFrom(from.mutex);
  both.done();
  both.wait();                  // the other task has its first lock too
  weft::lock lockTo(to.mutex);  // the mistake: std::scoped_lock takes both without a deadlock
  from.balance -= amount;
  to.balance += amount;
}

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  weft::Scheduler::Binding bound(scheduler);

  Account rent, savings;
  weft::WaitGroup both(2), done(2);
  weft::schedule([&, both, done] {
    transfer(rent, savings, 10, both);
    done.done();
  });
  weft::schedule([&, both, done] {
    transfer(savings, rent, 20, both);
    done.done();
  });
  std::puts("moving money");
  std::fflush(stdout);
  done.wait();
}
