// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The trivial scheduler: one mutex, one condition variable, an intrusive list.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "problem.h"
#include "queues.h"

namespace {

class Trivial {
 public:
  struct Task {
    Task* next = nullptr;
    std::function<void(Task*)> body;
  };

  explicit Trivial(int numThreads) {
    for (int i = 0; i < numThreads; i++) {
      threads_.emplace_back([this] { run(); });
    }
  }
  ~Trivial() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      isStopping_ = true;
    }
    condition_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  template <class F>
  static void setBody(Task& task, F&& body) {
    task.body = std::forward<F>(body);
  }
  void post(Task* task) {
    task->next = nullptr;
    std::lock_guard<std::mutex> lock(mutex_);
    (last_ != nullptr ? last_->next : first_) = task;
    last_ = task;
    condition_.notify_one();
  }
  void waitEmpty() {}

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      condition_.wait(lock, [this] { return first_ != nullptr || isStopping_; });
      if (first_ == nullptr) {
        return;
      }
      Task* task = first_;
      first_ = task->next;
      last_ = first_ != nullptr ? last_ : nullptr;
      lock.unlock();
      task->body(task);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable condition_;
  Task* first_ = nullptr;
  Task* last_ = nullptr;
  bool isStopping_ = false;
  std::vector<std::thread> threads_;
};

struct List : fair::MutexList {
  using Item = fair::Item;
  static fair::Item* next(fair::Item* item) { return item->next; }
};

template <int64_t kSleepNs>
void queue(bench::Run& run) {
  fair::measureQueue<List>(run, run.workers(), kSleepNs, [] { return std::make_unique<List>(); });
}

class Flag {
 public:
  void send() {
    std::lock_guard<std::mutex> lock(mutex_);
    isSet_ = true;
    condition_.notify_one();
  }
  void receiveBlocking() {
    std::unique_lock<std::mutex> lock(mutex_);
    condition_.wait(lock, [this] { return isSet_; });
    isSet_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool isSet_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "fair", "std",
                        {{"nano-1", {1, 2, 5}, fair::nanoOnce<Trivial>},
                         {"nano-10", {1, 2, 5}, fair::nanoTen<Trivial>},
                         {"micro", {1, 2}, fair::micro<Trivial>},
                         {"micro-1", {1, 2, 5}, fair::microOnce<Trivial>},
                         {"heavy-20", {1, 2, 5}, fair::heavyTwenty<Trivial>},
                         {"yield-one", {1, 2}, fair::yieldOne<Trivial>},
                         {"yield-thousand", {1, 2}, fair::yieldThousand<Trivial>},
                         {"queue-busy", {1, 2, 5, 6, 10}, queue<0>},
                         {"queue-sleep", {1, 2, 5, 6, 10}, queue<100'000>},
                         {"front", {1, 2, 5}, fair::measureFront<List>},
                         {"signal", {2}, fair::measureSignal<Flag>}});
}
