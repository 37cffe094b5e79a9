// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A server whose requests are short or long, as many of these as of those: 10 us or 1 ms. A thread that is no
// worker posts them at random times, at 70 percent of what the workers can do, whether or not those before
// are done. How long does a short one take, from when it is due until its end?
//
//   plain     a long request computes in one go
//   yield     after each 50 us it lets others run
//   limited   the same, and no more long requests compute at a time than there are workers; others wait
//
//   short_p50_us short_p99_us short_p999_us   of the short requests
//   long_p50_us long_p99_us                   of the long ones

#pragma once

#include <sys/prctl.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "../common/harness.h"
#include "../common/work.h"

namespace bimodal {

class Requests {
 public:
  explicit Requests(const bench::Run& run) : requests_(run.size<size_t>(8'000, 60)) {
    constexpr double kMeanNs = (kShortUs + kPieceUs * kPieces) * 1e3 / 2;
    const double gapNs = kMeanNs / (kLoad * run.workers());
    std::mt19937_64 random(1);
    double dueNs = 0;
    for (Request& request : requests_) {
      dueNs -= gapNs * std::log((static_cast<double>(random() % 1'000'000) + 1) / 1'000'000);
      request.dueNs = static_cast<int64_t>(dueNs);
      request.isLong = random() % 2 == 0;
    }
  }

  size_t size() const { return requests_.size(); }

  // Calls post(i) for each request when it is due. It never waits for one.
  template <class F>
  void post(F&& post) {
    prctl(PR_SET_TIMERSLACK, 1);  // the system may wake this thread 50 us late otherwise
    const auto begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < size(); i++) {
      const auto due = begin + std::chrono::nanoseconds(requests_[i].dueNs);
      std::this_thread::sleep_until(due);
      requests_[i].dueNs = std::chrono::nanoseconds(due.time_since_epoch()).count();
      post(i);
    }
  }

  // A request is compute(i) for each of its pieces, and then end(i).
  int numPieces(size_t i) const { return requests_[i].isLong ? kPieces : 1; }
  void compute(size_t i) {
    (requests_[i].isLong ? piece_ : short_)();
    requests_[i].computed++;
  }
  void end(size_t i) { requests_[i].endNs = bench::nowNs(); }

  // Requires: all have ended.
  void report(bench::Run& run) const {
    std::vector<double> us[2];
    for (size_t i = 0; i < size(); i++) {
      const Request& request = requests_[i];
      bench::check(request.computed == numPieces(i) && request.endNs >= request.dueNs, "a request");
      us[request.isLong].push_back(1e-3 * static_cast<double>(request.endNs - request.dueNs));
    }
    run.metric("short_p50_us", bench::percentile(us[0], 0.5));
    run.metric("short_p99_us", bench::percentile(us[0], 0.99));
    run.metric("short_p999_us", bench::percentile(us[0], 0.999));
    run.metric("long_p50_us", bench::percentile(us[1], 0.5));
    run.metric("long_p99_us", bench::percentile(us[1], 0.99));
  }

 private:
  static constexpr int kShortUs = 10;
  static constexpr int kPieceUs = 50;
  static constexpr int kPieces = 20;
  static constexpr double kLoad = 0.7;

  struct Request {
    int64_t dueNs = 0;  // from the beginning, and once it is posted, as by nowNs()
    int64_t endNs = 0;
    int computed = 0;
    bool isLong = false;
  };

  const bench::Work short_{kShortUs};
  const bench::Work piece_{kPieceUs};
  std::vector<Request> requests_;
};

}  // namespace bimodal
