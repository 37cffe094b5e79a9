// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A connection that lives: others append requests to its inbox and wake it; it sends all that there are in
// one step, and waits.

#include <weft/weft.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

class Connection {
 public:
  explicit Connection(weft::fair::TaskScheduler& scheduler)
      : scheduler_(scheduler), task_(this, &Connection::step) {
    scheduler_.post(&task_);
  }

  // Any thread.
  void send(std::string request) {
    {
      std::scoped_lock guard(mutex_);
      inbox_.push_back(std::move(request));
    }
    scheduler_.wakeup(&task_);
  }

  // Any thread, last: lets the connection end once all has been sent.
  void close() { scheduler_.signal(&task_); }

 private:
  void step() {
    const bool isLast = task_.receiveSignal();
    std::vector<std::string> requests;
    {
      std::scoped_lock guard(mutex_);
      requests.swap(inbox_);
    }
    for (const std::string& request : requests) {
      std::printf("sent %s\n", request.c_str());
    }
    if (!isLast) {
      scheduler_.postWait(&task_);
    }
  }

  weft::fair::TaskScheduler& scheduler_;
  weft::fair::Task task_;
  std::mutex mutex_;
  std::vector<std::string> inbox_;  // guarded by mutex_
};

}  // namespace

int main() {
  weft::fair::TaskScheduler scheduler("connections", 2);
  Connection connection(scheduler);
  for (int i = 1; i <= 5; ++i) {
    connection.send("request " + std::to_string(i));
  }
  connection.close();
  scheduler.waitEmpty();
}
