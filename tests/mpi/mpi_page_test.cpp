// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/mpi.h>

#include <cstddef>
#include <cstdio>
#include <vector>

#include "in_task.h"
#include "mpi/ranks.h"

// The examples of the headers of weft::mpi, word for word.
namespace {

struct Particle {
  double place[3];
  int kind;
};
MPI_Datatype particleType = MPI_DATATYPE_NULL;

}  // namespace

template <>
struct weft::mpi::DatatypeOf<Particle> {
  static MPI_Datatype get() { return particleType; }  // a Datatype of the program's
};

namespace weft::mpi_test {
namespace {

class MpiPageTest : public MpiTest {};
WEFT_INSTANTIATE_WITH_SCHEDULER(MpiPageTest);

// Returns: the sum of what the neighbours have sent.
double sumOfRing() {
  const weft::mpi::Communicator& world = weft::mpi::world();
  const int right = (world.rank() + 1) % world.size();
  const int left = (world.rank() + world.size() - 1) % world.size();
  std::vector<double> mine(100, 1), theirs(100);
  world.sendrecv(mine, right, theirs, left);
  double sum = 0;
  world.allreduce(theirs.front(), sum, MPI_SUM);
  return sum;
}

TEST_P(MpiPageTest, RanksExchangeMessages) {
  tests::inTask([&] { EXPECT_EQ(sumOfRing(), size); });
}

TEST_P(MpiPageTest, AStructureIsSentByItsMembers) {
  tests::inTask([&] {
    const std::vector<Particle> particles(3, Particle{{1, 2, 3}, rank});
    std::vector<Particle> received(3);
    const weft::mpi::Communicator& world = weft::mpi::world();
    const weft::mpi::Datatype particle = weft::mpi::Datatype::structure(
        sizeof(Particle),
        {{offsetof(Particle, place), 3, MPI_DOUBLE}, {offsetof(Particle, kind), 1, MPI_INT}});
    weft::mpi::Request sent = world.isend({particles.data(), particles.size(), particle.get()}, right);
    particleType = particle.get();
    world.recv(received, left);
    EXPECT_EQ(received.back().kind, left);
    EXPECT_EQ(received.back().place[2], 3);
    sent.wait();
  });
}

TEST_P(MpiPageTest, WorkIsDoneWhileAMessageIsUnderWay) {
  tests::inTask([&] {
    const weft::mpi::Communicator& world = weft::mpi::world();
    std::vector<double> column(10);
    const auto work = [&] { world.send(std::vector<double>(10, rank), right); };
    weft::mpi::Request received = world.irecv(column, left);
    work();
    const weft::mpi::Status status = received.wait();
    EXPECT_EQ(status.count<double>(), 10);
    EXPECT_EQ(column[9], left);
  });
}

TEST_P(MpiPageTest, AMessageThatIsTooLargeIsAnError) {
  tests::inTask([&] {
    const weft::mpi::Communicator& world = weft::mpi::self();
    const std::vector<int> sent(10, 1);
    std::vector<int> values(5);
    weft::mpi::Request request = world.isend(sent, 0);
    bool isTooLarge = false;
    try {
      world.recv(values, 0);
    } catch (const weft::mpi::Error& error) {
      isTooLarge = error.errorClass() == MPI_ERR_TRUNCATE;
    }
    EXPECT_TRUE(isTooLarge);
    std::error_code ignored;
    request.wait(ignored);
  });
}

TEST_P(MpiPageTest, AProbedMessageIsTheCallersAlone) {
  tests::inTask([&] {
    const weft::mpi::Communicator& world = weft::mpi::self();
    const std::vector<int> sent{1, 2, 3};
    weft::mpi::Request request = world.isend(sent, 0);
    weft::mpi::Message message = world.mprobe();
    std::vector<int> values(message.status().count<int>());
    message.recv(values);
    EXPECT_EQ(values, sent);
    request.wait();
  });
}

}  // namespace
}  // namespace weft::mpi_test
