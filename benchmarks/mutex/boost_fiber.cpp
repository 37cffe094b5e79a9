// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <boost/fiber/all.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "problem.h"

namespace {

void uncontended(bench::Run& r) {
  std::atomic<bool> stop{false};
  std::thread second([&] { stop.wait(false); });
  boost::fibers::mutex mutex;
  mutexes::measureUncontended(r, mutex);
  stop.store(true);
  stop.notify_one();
  second.join();
}

void contended(bench::Run& r) {
  mutexes::measureContended<boost::fibers::mutex>(
      r, [](boost::fibers::mutex& mutex, int64_t& counter, int64_t rounds) {
        auto half = [&, rounds] {
          std::vector<boost::fibers::fiber> fibers;
          for (int i = 0; i < mutexes::kHolders / 2; i++) {
            fibers.emplace_back([&, rounds] { mutexes::addUp(mutex, counter, rounds); });
          }
          for (auto& fiber : fibers) {
            fiber.join();
          }
        };
        std::thread second(half);
        half();
        second.join();
      });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "mutex", "boost_fiber",
                        {{"uncontended", {1}, uncontended}, {"contended", {2}, contended}});
}
