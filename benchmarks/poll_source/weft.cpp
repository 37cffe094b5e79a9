// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/pollsource.h>

#include "../common/weft_harness.h"
#include "../common/work.h"
#include "problem.h"

namespace {

using poll_source::Request;
using Device = weft::PollSource<Request>;

bool isDone(Request& request) { return request.isDone(); }

void idle(bench::Run& r) {
  bench::Bound bound(r.workers());
  Device device(isDone);
  std::vector<Request> requests(static_cast<size_t>(poll_source::numberOf(r)));
  weft::WaitGroup all(static_cast<unsigned>(requests.size()));
  for (Request& request : requests) {
    weft::schedule([&device, &request, all] {
      device.wait(request);
      all.done();
    });
  }
  while (device.numInFlight() < requests.size()) {
    std::this_thread::yield();
  }
  poll_source::measureIdle(r, requests);
  all.wait();
}

void late(bench::Run& r) {
  bench::Bound bound(r.workers());
  Device device(isDone);
  bench::runTask([&] { poll_source::measureLateness(r, [&](Request& request) { device.wait(request); }); });
}

// As long as it lives, two tasks for each worker compute for some microseconds, one after the other.
class BusyTasks {
 public:
  explicit BusyTasks(int workers) {
    for (int i = 0; i < 2 * workers; i++) {
      all_.add();
      weft::schedule([this] { computeAgain(); });
    }
  }
  ~BusyTasks() {
    stop_.store(true);
    all_.wait();
  }
  BusyTasks(const BusyTasks&) = delete;
  BusyTasks& operator=(const BusyTasks&) = delete;

 private:
  void computeAgain() {
    work_();
    if (stop_.load(std::memory_order_relaxed)) {
      all_.done();
    } else {
      weft::schedule([this] { computeAgain(); });
    }
  }

  const bench::Work work_{5};
  std::atomic<bool> stop_{false};
  weft::WaitGroup all_;
};

void lateBusy(bench::Run& r) {
  bench::Bound bound(r.workers());
  const BusyTasks busy(r.workers());
  Device device(isDone);
  bench::runTask([&] { poll_source::measureLateness(r, [&](Request& request) { device.wait(request); }); });
}

void rate(bench::Run& r) {
  bench::Bound bound(r.workers());
  Device device(isDone);
  poll_source::measureRate(r, [&](int waiters, auto& body) {
    weft::WaitGroup all(static_cast<unsigned>(waiters));
    for (int i = 0; i < waiters; i++) {
      weft::schedule([&device, &body, all] {
        body([&device](Request& request) { device.wait(request); });
        all.done();
      });
    }
    all.wait();
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "poll_source", "weft",
                        {{"idle-1", {2}, idle},
                         {"idle-16", {2}, idle},
                         {"idle-1000", {2}, idle},
                         {"late-1", {2}, late},
                         {"late-20", {2}, late},
                         {"late-100", {2}, late},
                         {"late-1000", {2}, late},
                         {"late-10000", {2}, late},
                         {"late-1-busy", {2}, lateBusy},
                         {"late-20-busy", {2}, lateBusy},
                         {"late-100-busy", {2}, lateBusy},
                         {"late-1000-busy", {2}, lateBusy},
                         {"late-10000-busy", {2}, lateBusy},
                         {"rate-1", {1, 2}, rate},
                         {"rate-16", {1, 2}, rate},
                         {"rate-1024", {1, 2}, rate}});
}
