// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "messages.h"
#include "problem.h"

namespace {

void step(heat::Strip& strip) {
  heat::exchange(strip);
  strip.computeInner();
  strip.compute(strip.border());
  strip.swap();
}

void answerOne(int rounds) {
  for (int64_t i = 0; i < rounds; ++i) {
    messages::Message message{i};
    if (heat::rank() == 0) {
      MPI_Send(&message, sizeof(message), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&message, sizeof(message), MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      bench::check(message.number == i + 1, "mpi: the answer");
    } else {
      MPI_Recv(&message, sizeof(message), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ++message.number;
      MPI_Send(&message, sizeof(message), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
}

// All pairs in step: the messages of a round are under way at the same time.
void answer(int pairs, int rounds) {
  if (pairs == 1) {
    answerOne(rounds);
    return;
  }
  const int other = 1 - heat::rank();
  std::vector<messages::Message> sent(static_cast<size_t>(pairs));
  std::vector<messages::Message> received(static_cast<size_t>(pairs));
  std::vector<MPI_Request> requests(static_cast<size_t>(pairs));
  const auto post = [&](bool isSend) {
    for (int tag = 0; tag < pairs; ++tag) {
      const auto i = static_cast<size_t>(tag);
      if (isSend) {
        MPI_Isend(&sent[i], sizeof(sent[i]), MPI_BYTE, other, tag, MPI_COMM_WORLD, &requests[i]);
      } else {
        MPI_Irecv(&received[i], sizeof(sent[i]), MPI_BYTE, other, tag, MPI_COMM_WORLD, &requests[i]);
      }
    }
    MPI_Waitall(pairs, requests.data(), MPI_STATUSES_IGNORE);
  };
  for (int64_t i = 0; i < rounds; ++i) {
    for (const bool isSend : {heat::rank() == 0, heat::rank() != 0}) {
      for (messages::Message& message : sent) {
        message.number = heat::rank() == 0 ? i : i + 1;
      }
      post(isSend);
    }
    for (const messages::Message& message : received) {
      bench::check(message.number == (heat::rank() == 0 ? i + 1 : i), "mpi: the answer");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto answers = [](bench::Run& r) { messages::measureAnswers(r, answer); };
  return heat::runMain(argc, argv, "blocking",
                       {{"heat", {1}, [](bench::Run& r) { heat::measure(r, step); }},
                        {"answers-1", {1}, answers},
                        {"answers-16", {1}, answers},
                        {"answers-1024", {1}, answers}});
}
