// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What one writes by hand: a thread of its own tests all requests in a loop, and wakes those that wait by
// their condition variables. It goes on at once, or sleeps for 50 microseconds after a round that finds
// nothing done.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "../common/hogs.h"
#include "problem.h"

namespace {

using poll_source::Request;

class Poller {
 public:
  explicit Poller(bool naps) : naps_(naps), thread_([this] { run(); }) {}
  ~Poller() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    some_.notify_one();
    thread_.join();
  }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  void wait(Request& request) {
    Waiter self{request};
    std::unique_lock lock(mutex_);
    waiters_.push_back(&self);
    if (waiters_.size() == 1) {
      some_.notify_one();
    }
    self.done.wait(lock, [&] { return self.isDone; });
  }

  size_t numWaiting() {
    const std::lock_guard lock(mutex_);
    return waiters_.size();
  }

 private:
  struct Waiter {
    Request& request;
    std::condition_variable done{};
    bool isDone = false;
  };

  void run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      if (waiters_.empty()) {
        some_.wait(lock, [this] { return stop_ || !waiters_.empty(); });
      }
      const auto isDone = [](Waiter* waiter) {
        waiter->isDone = waiter->request.isDone();
        if (waiter->isDone) {
          waiter->done.notify_one();
        }
        return waiter->isDone;
      };
      const bool found = std::erase_if(waiters_, isDone) != 0;
      lock.unlock();
      if (naps_ && !found) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      lock.lock();
    }
  }

  const bool naps_;
  std::mutex mutex_;
  std::condition_variable some_;  // somebody waits
  std::vector<Waiter*> waiters_;
  bool stop_ = false;
  std::thread thread_;
};

// Calls body(i) on `count` threads.
template <class F>
std::vector<std::thread> startThreads(size_t count, F body) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; i++) {
    threads.emplace_back([body, i] { body(i); });
  }
  return threads;
}

void joinAll(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void idle(bench::Run& r) {
  Poller poller(poll_source::isNamed(r, "nap"));
  std::vector<Request> requests(static_cast<size_t>(poll_source::numberOf(r)));
  auto threads = startThreads(requests.size(), [&](size_t i) { poller.wait(requests[i]); });
  while (poller.numWaiting() < requests.size()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  poll_source::measureIdle(r, requests);
  joinAll(threads);
}

void late(bench::Run& r) {
  std::optional<bench::Hogs> hogs;
  if (poll_source::isNamed(r, "busy")) {
    hogs.emplace();
  }
  Poller poller(poll_source::isNamed(r, "nap"));
  poll_source::measureLateness(r, [&](Request& request) { poller.wait(request); });
}

void rate(bench::Run& r) {
  Poller poller(poll_source::isNamed(r, "nap"));
  poll_source::measureRate(r, [&](int waiters, auto& body) {
    auto threads = startThreads(static_cast<size_t>(waiters),
                                [&](size_t) { body([&poller](Request& request) { poller.wait(request); }); });
    joinAll(threads);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "poll_source", "std",
                        {{"idle-1", {1}, idle},
                         {"idle-1000", {1}, idle},
                         {"idle-1000-nap", {1}, idle},
                         {"late-1", {1}, late},
                         {"late-20", {1}, late},
                         {"late-100", {1}, late},
                         {"late-1000", {1}, late},
                         {"late-10000", {1}, late},
                         {"late-20-nap", {1}, late},
                         {"late-100-nap", {1}, late},
                         {"late-1000-nap", {1}, late},
                         {"late-100-busy", {1}, late},
                         {"rate-1", {1}, rate},
                         {"rate-16", {1}, rate},
                         {"rate-1024", {1}, rate},
                         {"rate-1-nap", {1}, rate},
                         {"rate-16-nap", {1}, rate},
                         {"rate-1024-nap", {1}, rate}});
}
