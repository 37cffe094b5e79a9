// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// 16 KiB stacks without guards: from malloc ("blocked"), or from Boost.Fiber's own pool ("blocked-pooled").
// Much of the former's second round is the kernel's, as malloc gives the memory back in between.

#include <boost/fiber/all.hpp>

#include <memory>
#include <vector>

#include "problem.h"

namespace {

constexpr size_t kStackSize = 16 * 1024;

struct Round {
  boost::fibers::mutex mutex;
  boost::fibers::condition_variable condition;
  bool signalled = false;
  int64_t blocked = 0;
  int64_t finished = 0;

  void body() {
    std::unique_lock<boost::fibers::mutex> lock(mutex);
    blocked++;
    condition.wait(lock, [this] { return signalled; });
    finished++;
  }
};

template <class Stacks>
void measureWith(bench::Run& r, Stacks stacks) {
  std::unique_ptr<Round> round;
  std::vector<boost::fibers::fiber> fibers;
  auto block = [&](int64_t n) {
    round = std::make_unique<Round>();
    for (int64_t i = 0; i < n; i++) {
      fibers.emplace_back(boost::fibers::launch::post, std::allocator_arg, stacks, [&] { round->body(); });
    }
    while (round->blocked < n) {
      boost::this_fiber::yield();
    }
  };
  auto finish = [&] {
    {
      std::lock_guard<boost::fibers::mutex> lock(round->mutex);
      round->signalled = true;
    }
    round->condition.notify_all();
    for (auto& fiber : fibers) {
      fiber.join();
    }
    fibers.clear();
    return round->finished;
  };
  blocked::measure(r, blocked::fibers(r), block, finish);
}

void fromMalloc(bench::Run& r) { measureWith(r, boost::fibers::fixedsize_stack(kStackSize)); }
void fromPool(bench::Run& r) { measureWith(r, boost::fibers::pooled_fixedsize_stack(kStackSize)); }

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "blocked", "boost_fiber",
                        {{"blocked", {1}, fromMalloc}, {"blocked-pooled", {1}, fromPool}});
}
