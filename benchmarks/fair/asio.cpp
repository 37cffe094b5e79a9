// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Boost.Asio's thread_pool.

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>

#include "problem.h"

namespace {

class Asio {
 public:
  struct Task {
    std::function<void(Task*)> body;
  };

  explicit Asio(int numThreads) : pool(static_cast<size_t>(numThreads)) {}
  ~Asio() { pool.join(); }

  template <class F>
  static void setBody(Task& task, F&& body) {
    task.body = std::forward<F>(body);
  }
  void post(Task* task) {
    boost::asio::post(pool, [task] { task->body(task); });
  }
  void waitEmpty() {}

  boost::asio::thread_pool pool;
};

void lateness(bench::Run& run) {
  const int64_t count = run.size<int64_t>(100'000, 100);
  std::vector<double> late(static_cast<size_t>(count));
  Asio asio(run.workers());
  std::vector<boost::asio::steady_timer> timers;
  timers.reserve(late.size());
  fair::Steps steps(count);
  std::mt19937_64 random(1);
  for (double& result : late) {
    const auto at = std::chrono::steady_clock::now() +
                    std::chrono::microseconds(200'000 + random() % run.size(2'000'000u, 10'000u));
    timers.emplace_back(asio.pool, at);
    timers.back().async_wait([at, &result, &steps](const boost::system::error_code&) {
      result = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - at).count();
      steps.count();
    });
  }
  steps.wait();
  fair::reportLateness(run, late);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "fair", "asio",
                        {{"nano-1", {1, 2, 5}, fair::nanoOnce<Asio>},
                         {"nano-10", {1, 2, 5}, fair::nanoTen<Asio>},
                         {"micro", {1, 2}, fair::micro<Asio>},
                         {"micro-1", {1, 2, 5}, fair::microOnce<Asio>},
                         {"heavy-20", {1, 2, 5}, fair::heavyTwenty<Asio>},
                         {"yield-one", {1, 2}, fair::yieldOne<Asio>},
                         {"yield-thousand", {1, 2}, fair::yieldThousand<Asio>},
                         {"lateness-idle", {1, 2}, lateness}});
}
