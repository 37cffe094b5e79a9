// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A pool of threads with one queue under a mutex. A thread that finds nothing looks again for a millisecond,
// giving its processor away between looks, before it sleeps.

#include <deque>
#include <functional>

#include "problem.h"

namespace {

class SpinningPool {
 public:
  explicit SpinningPool(int numThreads) {
    for (int i = 0; i < numThreads; i++) {
      threads_.emplace_back([this] { run(); });
    }
  }

  ~SpinningPool() {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      isOver_ = true;
      numQueued_.fetch_add(1);
    }
    pushed_.notify_all();
    for (auto& thread : threads_) {
      thread.join();
    }
  }

  void schedule(std::function<void()> task) {
    bool wakes = false;
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      queue_.push_back(std::move(task));
      numQueued_.fetch_add(1);
      wakes = numAsleep_ > 0;
    }
    if (wakes) {
      pushed_.notify_one();
    }
  }

 private:
  static constexpr int64_t kSpinNs = 1000000;

  void run() {
    for (;;) {
      const int64_t end = bench::nowNs() + kSpinNs;
      while (numQueued_.load() == 0 && bench::nowNs() < end) {
        std::this_thread::yield();
      }
      std::unique_lock<std::mutex> lock(mutex_);
      if (queue_.empty() && !isOver_) {
        if (bench::nowNs() < end) {
          continue;
        }
        numAsleep_++;
        pushed_.wait(lock, [this] { return !queue_.empty() || isOver_; });
        numAsleep_--;
      }
      if (queue_.empty()) {
        return;
      }
      const std::function<void()> task = std::move(queue_.front());
      queue_.pop_front();
      numQueued_.fetch_sub(1);
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<std::function<void()>> queue_;  // these three: guarded by mutex_
  int numAsleep_ = 0;
  bool isOver_ = false;
  std::atomic<int> numQueued_{0};
  std::vector<std::thread> threads_;
};

void run(bench::Run& r) {
  const auto shape = request::Shape::of(r);
  const bench::Work work(shape.taskUs);
  SpinningPool pool(r.workers());
  request::Gate done;
  std::atomic<int> left{0};
  const auto runBurst = [&] {
    left.store(shape.burst);
    for (int i = 0; i < shape.burst; i++) {
      pool.schedule([&] {
        work();
        if (left.fetch_sub(1) == 1) {
          done.signal();
        }
      });
    }
    done.wait();
  };
  request::measureHops(r, shape, [] {}, [] {}, runBurst);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "request", "std", request::workloads(run));
}
