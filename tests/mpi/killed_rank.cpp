// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/mpi.h>

#include <csignal>
#include <cstdio>

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

// The last rank is killed while fibers of all others wait for it: mpiexec ends those. See mpi.cmake.
int main(int argc, char** argv) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  const weft::Scheduler::Binding bound(scheduler);
  const weft::mpi::Environment environment(argc, argv);
  const weft::mpi::Communicator& world = weft::mpi::world();
  const int last = world.size() - 1;
  world.barrier();
  if (world.rank() == last) {
    std::puts("the last rank ends");
    std::fflush(stdout);
    std::raise(SIGKILL);
  }
  weft::WaitGroup done(2);
  for (int tag = 0; tag < 2; ++tag) {
    weft::schedule([&world, done, last, tag] {
      int value = 0;
      world.recv(value, last, tag);
      done.done();
    });
  }
  done.wait();
  std::puts("a message of nobody has come");
}
