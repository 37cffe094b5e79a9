// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Crawls a made-up web of ten thousand pages with a session for each page, written as a coroutine: connect,
// fetch, follow the links. Two threads serve all sessions, which take turns.

#include <weft/weft.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

namespace {

using weft::fair::Coro;
using weft::fair::CoroTask;
using weft::fair::TaskScheduler;

constexpr int kPages = 10'000;

// The links of a page: a tree of three branches, and one link back to the first page.
std::vector<int> linksOf(int page) {
  std::vector<int> links{0};
  for (int i = 1; i <= 3; ++i) {
    if (const int to = page * 3 + i; to < kPages) {
      links.push_back(to);
    }
  }
  return links;
}

class Crawler {
 public:
  explicit Crawler(TaskScheduler& scheduler) : scheduler_(scheduler), visited_(kPages), sessions_(kPages) {}

  void visit(int page) {
    if (!visited_[static_cast<size_t>(page)].exchange(true)) {
      auto& session = sessions_[static_cast<size_t>(page)];
      session = std::make_unique<CoroTask>(crawl(page));
      scheduler_.post(session.get());
    }
  }

  int numPages() const { return numPages_; }
  int numLinks() const { return numLinks_; }

 private:
  Coro<> crawl(int page) {
    // Every hundredth server is slow.
    if (page % 100 == 0) {
      co_await weft::fair::delay(std::chrono::milliseconds(1));
    }
    const std::vector<int> links = co_await fetch(page);
    ++numPages_;
    for (const int link : links) {
      ++numLinks_;
      visit(link);
    }
  }

  static Coro<std::vector<int>> fetch(int page) {
    co_await weft::fair::yield();  // the answer comes
    co_return linksOf(page);
  }

  TaskScheduler& scheduler_;
  std::vector<std::atomic<bool>> visited_;
  std::vector<std::unique_ptr<CoroTask>> sessions_;
  std::atomic<int> numPages_{0};
  std::atomic<int> numLinks_{0};
};

}  // namespace

int main() {
  TaskScheduler scheduler("crawler", 2);
  Crawler crawler(scheduler);
  crawler.visit(0);
  scheduler.waitEmpty();
  std::printf("%d pages, %d links\n", crawler.numPages(), crawler.numLinks());
}
