// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/mpi.h>

#include <string>
#include <type_traits>
#include <vector>

#include <weft/waitgroup.h>

#include "in_task.h"
#include "mpi/ranks.h"

// Messages between two ranks: send(), recv() and their relatives.
namespace weft::mpi_test {
namespace {

// What is only to be sent is no room, and a description of values is no value.
static_assert(!std::is_constructible_v<mpi::Buffer, mpi::ConstBuffer&>);
static_assert(!std::is_constructible_v<mpi::Buffer, const int&>);
static_assert(!std::is_constructible_v<mpi::Buffer, const std::vector<int>&>);
static_assert(std::is_constructible_v<mpi::ConstBuffer, mpi::Buffer&>);

class MessagesTest : public MpiTest {};
WEFT_INSTANTIATE_WITH_SCHEDULER(MessagesTest);

TEST_P(MessagesTest, AFiberReceivesWhatAnotherRankSends) {
  tests::inTask([&] {
    const std::vector<int> sent{rank, 2, 3};
    std::vector<int> received(4);
    mpi::Request request = world().isend(sent, right, 5);
    const mpi::Status status = world().recv(received, left, 5);
    request.wait();
    EXPECT_EQ(received, (std::vector<int>{left, 2, 3, 0}));
    EXPECT_EQ(status.source(), left);
    EXPECT_EQ(status.tag(), 5);
    EXPECT_EQ(status.count<int>(), 3);
  });
}

TEST_P(MessagesTest, OthersRunWhileAFiberWaits) {
  int received = -1;
  WaitGroup done(2);
  schedule([&] {
    world().recv(received, left, 1);
    done.done();
  });
  // On one worker, too: there is no other where the scheduler has none.
  schedule([&] {
    world().send(rank, right, 1);
    done.done();
  });
  done.wait();
  EXPECT_EQ(received, left);
}

TEST_P(MessagesTest, ABoundThreadWaits) {
  int received = -1;
  world().sendrecv(rank, right, received, left);
  EXPECT_EQ(received, left);
}

}  // namespace
}  // namespace weft::mpi_test
