// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/mpi.h>

#include "../common/weft_harness.h"
#include "messages.h"
#include "problem.h"

namespace {

void step(heat::Strip& strip) {
  const int neighbour = 1 - heat::rank();
  std::array<weft::mpi::Request, 2> requests{weft::mpi::world().irecv(strip.received(), neighbour),
                                             weft::mpi::world().isend(strip.row(strip.border()), neighbour)};
  weft::TaskGroup border;
  border.run([&] {
    weft::mpi::waitAll(requests);
    strip.compute(strip.border());
  });
  weft::parallelFor(strip.firstInner(), strip.endInner(), [&](int y) { strip.compute(y); });
  border.wait();
  strip.swap();
}

void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  const weft::mpi::Environment environment;
  bench::runTask([&] { heat::measure(r, step); });
}

// One fiber for each pair.
void answer(int pairs, int rounds) {
  const weft::mpi::Communicator& world = weft::mpi::world();
  weft::WaitGroup all(static_cast<unsigned>(pairs));
  for (int tag = 0; tag < pairs; ++tag) {
    weft::schedule([&world, tag, rounds, all] {
      for (int64_t i = 0; i < rounds; ++i) {
        messages::Message message{i};
        if (heat::rank() == 0) {
          world.send(message, 1, tag);
          world.recv(message, 1, tag);
          bench::check(message.number == i + 1, "mpi: the answer");
        } else {
          world.recv(message, 0, tag);
          ++message.number;
          world.send(message, 0, tag);
        }
      }
      all.done();
    });
  }
  all.wait();
}

void answers(bench::Run& r) {
  bench::Bound bound(r.workers());
  const weft::mpi::Environment environment;
  messages::measureAnswers(r, answer);
}

// No other rank sends: each fiber waits for its own rank.
void idle(bench::Run& r) {
  bench::Bound bound(r.workers());
  const weft::mpi::Environment environment;
  const weft::mpi::Communicator& self = weft::mpi::self();
  const int waiters = messages::numberOf(r);
  weft::WaitGroup all(static_cast<unsigned>(waiters));
  for (int tag = 0; tag < waiters; ++tag) {
    weft::schedule([&self, tag, all] {
      messages::Message message;
      self.recv(message, 0, tag);
      all.done();
    });
  }
  messages::measureIdle(r);
  for (int tag = 0; tag < waiters; ++tag) {
    self.send(messages::Message(), 0, tag);
  }
  all.wait();
}

}  // namespace

int main(int argc, char** argv) {
  return heat::runMain(argc, argv, "weft",
                       {{"heat", {1}, run},
                        {"answers-1", {1}, answers},
                        {"answers-16", {1}, answers},
                        {"answers-1024", {1}, answers},
                        {"idle-1", {1}, idle},
                        {"idle-1000", {1}, idle}});
}
