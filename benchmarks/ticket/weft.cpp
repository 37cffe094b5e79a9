// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void lane(int64_t n) {
  weft::Ticket::Queue queue;
  int64_t next = 0;
  for (int64_t i = 0; i < n; i++) {
    weft::schedule([&next, i, ticket = queue.take()] {
      ticket.wait();
      next += next == i ? 1 : 0;
      ticket.done();
    });
  }
  queue.take().wait();
  bench::check(next == n, "ticket");
}

void continuation(int64_t n) {
  weft::Ticket::Queue queue;
  int64_t next = 0;
  const weft::Ticket first = queue.take();
  for (int64_t i = 0; i < n; i++) {
    const weft::Ticket ticket = queue.take();
    ticket.onCall([&next, i, ticket] {
      next += next == i ? 1 : 0;
      ticket.done();
    });
  }
  const weft::Ticket last = queue.take();
  first.done();
  last.wait();
  bench::check(next == n, "ticket");
}

template <void (*runLane)(int64_t)>
void fromTask(bench::Run& r) {
  bench::Bound bound(r.workers());
  int64_t n = ticket::length(r);
  bench::runTask([&] {
    double ns = r.medianNs([&] { runLane(n); });
    r.metric("ns_per_ticket", ns / static_cast<double>(n));
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(
      argc, argv, "ticket", "weft",
      {{"lane", {0, 1, 2}, fromTask<lane>}, {"continuation", {0, 1, 2}, fromTask<continuation>}});
}
