// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Each rank sends to the one on its right, and works meanwhile.
//
//   mpirun -n 4 ring

#include <cstdio>
#include <vector>

#include <weft/mpi.h>
#include <weft/scheduler.h>
#include <weft/taskgroup.h>

namespace {

void work() { std::puts("works while the message is on its way"); }

}  // namespace

int main(int argc, char** argv) {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  const weft::mpi::Environment mpi(argc, argv);
  const weft::mpi::Communicator& world = weft::mpi::world();
  const int right = (world.rank() + 1) % world.size();
  const int left = (world.rank() + world.size() - 1) % world.size();

  std::vector<double> mine(1000, world.rank());
  std::vector<double> theirs(1000);
  weft::TaskGroup group;
  group.run([&] { world.sendrecv(mine, right, theirs, left); });  // a fiber that waits
  group.run([&] { work(); });                                     // meanwhile
  group.wait();

  double sum = 0;
  world.allreduce(theirs.front(), sum, MPI_SUM);
  std::printf("the sum of all ranks is %.0f\n", sum);
}
