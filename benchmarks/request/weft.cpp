// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

class EventGate {
 public:
  void signal() { event_.signal(); }
  void wait() { event_.wait(); }

 private:
  weft::Event event_;
};

void run(bench::Run& r) {
  const auto shape = request::Shape::of(r);
  const bench::Work work(shape.taskUs);
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(r.workers()));
  const auto runBurst = [&] {
    weft::WaitGroup done(static_cast<unsigned>(shape.burst));
    for (int i = 0; i < shape.burst; i++) {
      weft::schedule([&work, done] {
        work();
        done.done();
      });
    }
    done.wait();
  };
  const auto begin = [&] { scheduler.bind(); };
  const auto end = [] { weft::Scheduler::unbind(); };
  if (shape.isNative) {
    request::measureHops(r, shape, begin, end, runBurst);
  } else {
    request::measureHops<EventGate>(r, shape, begin, end, runBurst);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "request", "weft", request::workloads(run));
}
