// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The queues of a scheduler and the wake of a thread, each by itself. `Queue` has push(Item*), and a
// `Consumer` for each thread that takes from it, with pop(), which returns null when the queue is empty;
// `Wakeup` has send() and receiveBlocking() for one sleeper each.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "problem.h"

namespace fair {

struct Item {
  Item* next = nullptr;
};

// What the bars compare with: an intrusive list under a mutex.
class MutexList {
 public:
  class Consumer {
   public:
    explicit Consumer(MutexList& list) : list_(list) {}
    Item* pop() { return list_.pop(); }

   private:
    MutexList& list_;
  };

  void push(Item* item) {
    item->next = nullptr;
    std::lock_guard<std::mutex> lock(mutex_);
    (last_ != nullptr ? last_->next : first_) = item;
    last_ = item;
  }
  Item* pop() {
    std::lock_guard<std::mutex> lock(mutex_);
    Item* item = first_;
    if (item != nullptr) {
      first_ = item->next;
      last_ = first_ != nullptr ? last_ : nullptr;
    }
    return item;
  }
  Item* popAll() {
    std::lock_guard<std::mutex> lock(mutex_);
    last_ = nullptr;
    return std::exchange(first_, nullptr);
  }

 private:
  std::mutex mutex_;
  Item* first_ = nullptr;
  Item* last_ = nullptr;
};

// One producer; `consumers` take until all items have been taken. `sleepNs`: what they do when it is empty.
template <class Queue>
void measureQueue(bench::Run& run, int consumers, int64_t sleepNs, std::unique_ptr<Queue> (*make)()) {
  const int64_t count = run.size<int64_t>(1'000'000, 2'000);
  std::vector<Item> items(static_cast<size_t>(count));
  const double ns = run.medianNs([&] {
    std::unique_ptr<Queue> queue = make();
    std::atomic<int64_t> numTaken{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < consumers; i++) {
      threads.emplace_back([&] {
        typename Queue::Consumer consumer(*queue);
        int64_t mine = 0;
        while (numTaken.load(std::memory_order_relaxed) < count) {
          if (consumer.pop() != nullptr) {
            mine++;
            continue;
          }
          numTaken.fetch_add(std::exchange(mine, 0), std::memory_order_relaxed);
          if (sleepNs != 0) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(sleepNs));
          }
        }
      });
    }
    for (Item& item : items) {
      queue->push(&item);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    bench::check(numTaken.load() == count && typename Queue::Consumer(*queue).pop() == nullptr,
                 "fair: items");
  });
  run.metric("ns_per_item", ns / static_cast<double>(count));
}

// As many senders as the run has workers push, one receiver takes all there is.
template <class Queue>
void measureFront(bench::Run& run) {
  const int senders = run.workers();
  const int64_t each = run.size<int64_t>(1'000'000, 2'000) / senders;
  std::vector<typename Queue::Item> items(static_cast<size_t>(each * senders));
  const double ns = run.medianNs([&] {
    Queue queue;
    std::vector<std::thread> threads;
    for (int i = 0; i < senders; i++) {
      threads.emplace_back([&, i] {
        for (int64_t j = 0; j < each; j++) {
          queue.push(&items[static_cast<size_t>(i * each + j)]);
        }
      });
    }
    for (int64_t taken = 0; taken < each * senders;) {
      for (auto* item = queue.popAll(); item != nullptr; item = Queue::next(item)) {
        taken++;
      }
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  });
  run.metric("ns_per_item", ns / static_cast<double>(each * senders));
}

template <class Wakeup>
void measureSignal(bench::Run& run) {
  const int64_t rounds = run.size<int64_t>(20'000, 100);
  Wakeup there, back;
  int64_t replies = 0;
  const double ns = run.medianNs([&] {
    std::thread other([&] {
      for (int64_t i = 0; i < rounds; i++) {
        there.receiveBlocking();
        replies++;
        back.send();
      }
    });
    for (int64_t i = 0; i < rounds; i++) {
      there.send();
      back.receiveBlocking();
    }
    other.join();
  });
  bench::check(replies % rounds == 0, "fair: replies");
  run.metric("ns_per_round_trip", ns / static_cast<double>(rounds));
  // Sends to a thread that has not received yet, and receives of what is there.
  const int64_t sends = run.size<int64_t>(1'000'000, 1'000);
  run.metric("ns_per_send_and_receive", run.medianNs([&] {
    for (int64_t i = 0; i < sends; i++) {
      there.send();
      there.receiveBlocking();
    }
  }) / static_cast<double>(sends));
}

}  // namespace fair
