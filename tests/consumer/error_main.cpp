// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <string_view>

// Sends to a closed channel: in a task, or on the thread of main() if so asked.
int main(int argc, char** argv) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  const weft::Scheduler::Binding bound(scheduler);
  weft::Channel<int> channel(1);
  channel.close();
  if (argc > 1 && std::string_view(argv[1]) == "thread") {
    channel.send(1);
  }
  const weft::WaitGroup done(1);
  weft::schedule([=] {
    channel.send(1);
    done.done();
  });
  done.wait();
  return 0;
}
