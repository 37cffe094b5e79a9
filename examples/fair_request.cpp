// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Requests that are either answered or expire. Each is an object whose callback changes from step to step,
// and which deletes itself last: the signal that comes with the answer, or with its cancellation, makes that
// safe. A pool of one-shot tasks plays the server.

#include <weft/weft.h>

#include <atomic>
#include <chrono>
#include <cstdio>

namespace {

using namespace std::chrono_literals;
using weft::fair::Task;
using weft::fair::TaskScheduler;

class Request {
 public:
  // `isAnswered`: by the server; else it only ever answers that the request was cancelled.
  Request(TaskScheduler& scheduler, TaskScheduler& server, bool isAnswered, std::atomic<int>& numAnswered,
          std::atomic<int>& numExpired)
      : scheduler_(scheduler),
        server_(server),
        isAnswered_(isAnswered),
        numAnswered_(numAnswered),
        numExpired_(numExpired),
        task_(this, &Request::connect) {
    scheduler_.post(&task_);
  }

 private:
  // The first step: "connects", and is posted again by the completion of that.
  void connect() {
    task_.setCallback(this, &Request::ask);
    server_.postOneShot([this] { scheduler_.post(&task_); });
  }

  void ask() {
    task_.setCallback(this, &Request::finish);
    // An hour is long enough for an answer that comes, a moment for one that does not.
    task_.setDelay(isAnswered_ ? std::chrono::milliseconds(1h) : 1ms);
    if (isAnswered_) {
      server_.postOneShot([this] { scheduler_.signal(&task_); });
    }
    scheduler_.post(&task_);
  }

  void finish() {
    if (task_.receiveSignal()) {
      ++(hasExpired_ ? numExpired_ : numAnswered_);
      delete this;
      return;
    }
    // The deadline has come. The server may still be about to answer, so that the request stays until it has.
    hasExpired_ = true;
    server_.postOneShot([this] { scheduler_.signal(&task_); });
    scheduler_.postWait(&task_);
  }

  TaskScheduler& scheduler_;
  TaskScheduler& server_;
  const bool isAnswered_;
  bool hasExpired_ = false;
  std::atomic<int>& numAnswered_;
  std::atomic<int>& numExpired_;
  Task task_;
};

}  // namespace

int main() {
  TaskScheduler scheduler("requests", 2), server("server", 2);
  std::atomic<int> numAnswered{0}, numExpired{0};
  for (int i = 0; i < 1'000; ++i) {
    new Request(scheduler, server, i % 10 != 0, numAnswered, numExpired);
  }
  while (numAnswered + numExpired < 1'000) {
    server.waitEmpty();
    scheduler.waitEmpty();
  }
  std::printf("%d answered, %d expired\n", numAnswered.load(), numExpired.load());
}
