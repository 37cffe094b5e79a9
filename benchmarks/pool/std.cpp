// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A pool as one writes it by hand: a vector under a mutex, a condition variable, and threads.

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "problem.h"

namespace {

class Pool {
 public:
  explicit Pool(int count) : objects_(static_cast<size_t>(count)) {
    for (int64_t& object : objects_) {
      free_.push_back(&object);
    }
  }

  int64_t* borrow() {
    std::unique_lock lock(mutex_);
    given_.wait(lock, [this] { return !free_.empty(); });
    int64_t* object = free_.back();
    free_.pop_back();
    return object;
  }

  void give(int64_t* object) {
    {
      std::scoped_lock lock(mutex_);
      free_.push_back(object);
    }
    given_.notify_one();
  }

  int64_t sum() const {
    int64_t sum = 0;
    for (int64_t object : objects_) {
      sum += object;
    }
    return sum;
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  std::vector<int64_t> objects_;
  std::vector<int64_t*> free_;
};

// In a thread of its own: glibc's mutex costs less while there is only one.
void alone(bench::Run& r) {
  std::thread([&] {
    pool::measure(r, 5000000, [](int64_t n) {
      Pool objects(pool::kObjects);
      for (int64_t i = 0; i < n; i++) {
        int64_t* object = objects.borrow();
        ++*object;
        objects.give(object);
      }
      bench::check(objects.sum() == n, "pool");
    });
  }).join();
}

void contended(bench::Run& r) {
  pool::measure(r, 320000, [](int64_t n) {
    Pool objects(pool::kObjects);
    std::vector<std::thread> borrowers;
    for (int i = 0; i < pool::kBorrowers; i++) {
      borrowers.emplace_back([&] {
        for (int64_t j = 0; j < n / pool::kBorrowers; j++) {
          int64_t* object = objects.borrow();
          ++*object;
          std::this_thread::yield();
          objects.give(object);
        }
      });
    }
    for (auto& borrower : borrowers) {
      borrower.join();
    }
    bench::check(objects.sum() == n, "pool");
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "pool", "std", {{"bounded", {1}, alone}, {"contended", {2}, contended}});
}
