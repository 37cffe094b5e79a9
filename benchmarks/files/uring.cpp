// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// One thread with a ring of io_uring. Each result is followed by the next request at once, and all that have
// come together are handed over together.

#include <liburing.h>

#include <vector>

#include "problem.h"

namespace {

class Ring {
 public:
  Ring(const files::DataFile& file, int depth, int64_t end)
      : file_(file), places_(file, 0, end), blocks_(static_cast<size_t>(depth)), numbers_(blocks_.size()) {
    const unsigned flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    bench::check(io_uring_queue_init(static_cast<unsigned>(depth), &ring_, flags) == 0, "a ring");
  }
  ~Ring() { io_uring_queue_exit(&ring_); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  int64_t run() {
    for (size_t place = 0; place < blocks_.size(); place++) {
      ask(place);
    }
    while (numAsked_ > 0) {
      bench::check(io_uring_submit_and_wait(&ring_, 1) >= 0, "io_uring_submit_and_wait");
      unsigned head = 0, count = 0;
      const io_uring_cqe* result = nullptr;
      io_uring_for_each_cqe(&ring_, head, result) {
        take(*result);
        count++;
      }
      io_uring_cq_advance(&ring_, count);
    }
    return places_.numTaken();
  }

 private:
  void ask(size_t place) {
    numbers_[place] = places_.next();
    io_uring_sqe* const request = io_uring_get_sqe(&ring_);
    io_uring_prep_read(request, file_.fd(), &blocks_[place], sizeof(files::Block),
                       numbers_[place] * files::kBlockBytes);
    request->user_data = place;
    numAsked_++;
  }

  void take(const io_uring_cqe& result) {
    const size_t place = result.user_data;
    bench::check(result.res == sizeof(files::Block), "a read");
    bench::check(blocks_[place].isOf(numbers_[place]), "what was read");
    numAsked_--;
    if (places_.areLeft()) {
      ask(place);
    }
  }

  const files::DataFile& file_;
  files::Places places_;
  std::vector<files::Block> blocks_;
  std::vector<uint64_t> numbers_;
  io_uring ring_{};
  int numAsked_ = 0;
};

int64_t readUntil(const files::DataFile& file, int depth, int64_t end) {
  return Ring(file, depth, end).run();
}

void run(bench::Run& r) {
  io_uring tried;
  if (io_uring_queue_init(1, &tried, 0) != 0) {
    return r.skip("no io_uring");
  }
  io_uring_queue_exit(&tried);
  files::measure(r, readUntil);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "files", "uring",
                        {{"cached-1", {1}, run}, {"cached-16", {1}, run}, {"direct-32", {1}, run}});
}
