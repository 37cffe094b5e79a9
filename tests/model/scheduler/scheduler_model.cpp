// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>
#include <unistd.h>

#include <memory>

#include "../checker.h"
#include "machine.h"
#include "scenarios.h"

// Seeded bug: include/weft/detail/park/idle.h:3 batch
// Seeded bug: include/weft/detail/park/quiescence.h:1 join
// Seeded bug: include/weft/detail/wait/rundown_protection.h:1:split late-task
// Seeded bug: src/scheduler/queues/external_deques.h:1 bound-thread-joins
// Seeded bug: src/scheduler/queues/external_deques.h:2 bound-thread-joins
// Seeded bug: src/scheduler/core/thread_waiter.cpp:2 woken-from-outside
// Seeded bug: src/scheduler/core/thread_waiter.cpp:5 woken-from-outside

// The whole scheduler:
//     scheduler_model [--scenario NAME] [--bug NAME] [--seed FILE:NOTE[:KIND]] [--iterations N]
// explores each scenario, or the one of that name, as explore.h says. A bug is one of changes.txt.
namespace weft::model {
namespace {

template <class T>
std::unique_ptr<Scenario> make() {
  return std::make_unique<T>();
}

struct Named {
  const char* name;
  std::unique_ptr<Scenario> (*make)();
  unsigned iterations;
};

constexpr Named kScenarios[] = {
    {"nothing", &make<Nothing>, 20'000},
    {"batch", &make<Batch>, 40'000},
    {"theft", &make<Theft>, 40'000},
    {"many", &make<Many<false>>, 40'000},
    {"many-from-task", &make<Many<true>>, 40'000},
    {"overflow", &make<Overflow<1>>, 30'000},
    {"overflowed-batch", &make<Overflow<0>>, 30'000},
    {"last-task-schedules", &make<LastTaskSchedules>, 40'000},
    {"left-to-workers", &make<LeftToWorkers>, 40'000},
    {"task-waits-for-task", &make<TaskWaitsForTask>, 40'000},
    {"wake-all", &make<WakeAll>, 40'000},
    {"woken-from-outside", &make<WokenFromOutside>, 40'000},
    {"bound-thread-waits", &make<BoundThreadWaits>, 40'000},
    {"time-limit", &make<TimeLimit>, 40'000},
    {"sleepers", &make<Sleepers>, 40'000},
    {"join", &make<Join>, 40'000},
    {"bound-thread-joins", &make<BoundThreadJoins>, 40'000},
    {"group", &make<Group>, 40'000},
    {"of-this-thread", &make<OfThisThread>, 40'000},
    {"exclusion", &make<Exclusion>, 40'000},
    {"expiry", &make<Expiry>, 40'000},
    {"ping-pong", &make<PingPong>, 40'000},
    {"two-producers", &make<TwoProducers>, 40'000},
    {"late-task", &make<LateTask>, 40'000},
    {"bound-at-the-end", &make<BoundAtTheEnd>, 40'000},
    {"two-bound-threads", &make<TwoBoundThreads>, 40'000},
    {"two-schedulers", &make<TwoSchedulers>, 40'000},
    {"permits", &make<Permits>, 40'000},
    {"pinned", &make<Pinned>, 40'000},
    {"placed", &make<Placed>, 40'000},
    {"placed-at-the-end", &make<PlacedAtTheEnd>, 40'000},
    {"initializer", &make<Initializer>, 40'000},
};

const Named* current = nullptr;

struct Run : Machine, rl::test_suite<Run, kWorkers + 1> {
  std::unique_ptr<Scenario> scenario = current->make();

  void thread(unsigned index) {
    runThread(index);
    if (index == kWorkers) {
      scenario->run();
      noMoreThreads();
    }
  }
};

// More steps than this are an endless loop.
constexpr unsigned kMostSteps = 60'000;

bool exploreAll(const char* only) {
  for (const Named& scenario : kScenarios) {
    if (only != nullptr && std::strcmp(only, scenario.name) != 0) {
      continue;
    }
    current = &scenario;
    if (!explore<Run>(scenario.name, scenario.iterations, kMostSteps)) {
      return false;
    }
  }
  if (current == nullptr) {
    std::fprintf(stderr, "no such scenario: %s\n", only);
    std::exit(2);
  }
  return true;
}

}  // namespace

// The threads of the machine only, and at random only: a thread that waits looks again without end.
bool check(rl::thread_id_t, rl::test_params& params, const char*& extent) {
  return tryRandom<kWorkers + 1>(params, extent);
}

}  // namespace weft::model

// A bug may destroy what the program itself needs.
void reportCrash(int) {
  constexpr char kResult[] = "a crash\nRESULT: error found\n";
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, kResult, sizeof kResult - 1);
  _exit(1);
}

void catchCrashes() {
  static char stack[16384];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_handler = &reportCrash;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGTRAP}) {
    sigaction(signal, &action, nullptr);
  }
}

int main(int argc, char** argv) {
  using namespace weft::model;
  catchCrashes();
  const char* only = nullptr;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--scenario") == 0) {
      only = argv[i + 1];
    }
    if (std::strcmp(argv[i], "--bug") == 0) {
      seededName = argv[i + 1];
    }
  }
  return runModel(argc, argv, [=] { return exploreAll(only); });
}
