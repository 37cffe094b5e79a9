// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A list of work that ranks share: mpiexec -n 4 worklist [SIZE]. A task names a registered function and its
// arguments, so that it can go to any rank. Rank 0 has all tasks at first. A rank without tasks asks the
// others for some, a fiber of each answers, and the ranks notice together that all is done. Rank 0 compares
// the results with those of a loop over the tasks.

#include <weft/mpi.h>
#include <weft/weft.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "worklist.h"

namespace {

using weft::mpi::Communicator;
using worklist::Functions;
using worklist::Task;
using worklist::Tasks;
using worklist::WorkList;

enum Tag : int { kAsk, kAnswer };

constexpr int64_t kStretch = 1000;  // numbers of a task
constexpr size_t kMostAtOnce = 64;  // tasks in a message
constexpr std::chrono::milliseconds kPause{1};

// Gives other ranks the tasks that they ask for, until a stop.
void serve(const Communicator& ranks, WorkList& list, const std::stop_token& stop) {
  for (;;) {
    weft::mpi::Request ask = ranks.irecv({}, Communicator::kAnySource, kAsk);
    const std::optional<weft::mpi::Status> status = ask.waitFor(stop);
    if (!status) {
      return;
    }
    ranks.send(list.giveHalf(kMostAtOnce), status->source(), kAnswer);
  }
}

// Asks one rank after the other for tasks, if none are left here.
void askOthers(const Communicator& ranks, WorkList& list) {
  for (int i = 1; i < ranks.size() && list.isEmpty(); ++i) {
    const int other = (ranks.rank() + i) % ranks.size();
    Tasks taken(kMostAtOnce);
    ranks.send({}, other, kAsk);
    taken.resize(static_cast<size_t>(ranks.recv(taken, other, kAnswer).count<Task>()));
    list.addTaken(taken);
  }
}

// Gets tasks of other ranks until those of all are done. Ranks without tasks count together, now and again,
// how many tasks were made and done. If no more had been made in one count than had been done in the count
// before, then none was left between the two. (One count is not enough, as the ranks do not count at one
// time: it may have a task as done, but not what that has made.)
void shareUntilDone(const Communicator& ranks, WorkList& list) {
  uint64_t doneBefore = UINT64_MAX;
  for (;;) {
    while (!list.waitUntilIdle(kPause)) {
      askOthers(ranks, list);
    }
    const WorkList::Counts mine = list.counts();
    WorkList::Counts all{};
    weft::mpi::Request sum = ranks.iallreduce(mine, all, MPI_SUM);
    while (!sum.waitFor(kPause)) {
      askOthers(ranks, list);
    }
    if (all[0] == doneBefore) {
      return;
    }
    doneBefore = all[1];
  }
}

void work(const Functions& functions, WorkList& list) {
  while (const std::optional<Task> task = list.take()) {
    Tasks more;
    const uint64_t result = functions.call(*task, more);
    list.finish(*task, result, more);
    weft::yield();  // serve() may be on this thread
  }
}

// Does the tasks of all ranks, and prints how many each has done. Returns: on rank 0, the results.
WorkList::Results doTasks(const Communicator& ranks, const Functions& functions, const Tasks& tasks) {
  WorkList list(functions.size());
  list.add(tasks);
  std::stop_source over;
  weft::TaskGroup fibers;
  fibers.run([&] { serve(ranks, list, over.get_token()); });
  for (int i = 0; i < std::max(weft::Scheduler::get()->config().workerThread.count, 1); ++i) {
    fibers.run([&] { work(functions, list); });
  }
  shareUntilDone(ranks, list);
  ranks.barrier();  // no rank asks any more
  over.request_stop();
  list.close();
  fibers.wait();

  const WorkList::Results mine = list.results();
  WorkList::Results all(mine.size());
  ranks.reduce(mine, all, MPI_SUM);
  std::vector<uint64_t> numDone(static_cast<size_t>(ranks.size()));
  ranks.gather(list.counts()[1], numDone);
  for (size_t i = 0; i < numDone.size() && ranks.rank() == 0; ++i) {
    std::printf("rank %zu did %" PRIu64 " tasks\n", i, numDone[i]);
  }
  return all;
}

// Returns: the results of all tasks, without any other rank or fiber.
WorkList::Results doSerially(const Functions& functions, Tasks tasks) {
  WorkList::Results results(functions.size());
  while (!tasks.empty()) {
    const Task task = tasks.back();
    tasks.pop_back();
    results[static_cast<size_t>(task.function)] += functions.call(task, tasks);
  }
  return results;
}

// Returns: how many primes lie in a short range. A long one gives two tasks.
uint64_t countPrimes(const Task& task, Tasks& more) {
  if (task.end - task.begin > kStretch) {
    const int64_t middle = task.begin + (task.end - task.begin) / 2;
    more.push_back({task.function, task.begin, middle});
    more.push_back({task.function, middle, task.end});
    return 0;
  }
  uint64_t count = 0;
  for (int64_t n = task.begin; n < task.end; ++n) {
    int64_t factor = 2;
    while (factor * factor <= n && n % factor != 0) {
      ++factor;
    }
    count += factor * factor > n ? 1 : 0;
  }
  return count;
}

// Returns: how many steps the numbers of a range take to 1. A step halves an even number, and makes three
// times itself plus one of an odd one.
uint64_t countCollatzSteps(const Task& task, Tasks&) {
  uint64_t count = 0;
  for (int64_t start = task.begin; start < task.end; ++start) {
    for (int64_t n = start; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) {
      ++count;
    }
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  const weft::mpi::Environment mpi(argc, argv);
  const Communicator& ranks = weft::mpi::world();
  int64_t size = 3'000'000;
  const std::string_view argument = argc == 2 ? argv[1] : "";
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), size);
  if (argc > 2 || (argc == 2 && (error != std::errc() || end != argument.data() + argument.size()))) {
    std::fputs(ranks.rank() == 0 ? "usage: worklist [SIZE]\n" : "", stderr);
    return 2;
  }

  Functions functions;
  const int64_t primes = functions.add("primes", countPrimes);
  const int64_t collatz = functions.add("collatz", countCollatzSteps);
  if (!functions.areEqualOn(ranks)) {
    std::fputs(ranks.rank() == 0 ? "worklist: the ranks have other functions\n" : "", stderr);
    return 2;
  }
  Tasks tasks;
  if (ranks.rank() == 0) {
    tasks.push_back({primes, 2, size});
    for (int64_t begin = 1; begin < size; begin += kStretch) {
      tasks.push_back({collatz, begin, std::min(begin + kStretch, size)});
    }
  }
  const WorkList::Results results = doTasks(ranks, functions, tasks);
  bool isRight = ranks.rank() != 0 || results == doSerially(functions, tasks);
  ranks.bcast(isRight);
  if (ranks.rank() == 0) {
    std::printf("%" PRIu64 " primes, %" PRIu64 " steps of Collatz: %s\n", results[0], results[1],
                isRight ? "right" : "WRONG");
  }
  return isRight ? 0 : 1;
}
