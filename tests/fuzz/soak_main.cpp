// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runs random programs of operations for a time, several at once:
//
//   weft_soak [--seconds N] [--seed N] [--workers N] [--clients N]
//
// Each client, a thread, runs one program after the other; there are at most 64. Of four programs, three
// share a scheduler and a fair scheduler that go on all the time. One has schedulers of its own. Fails if a
// program fails or hangs (WEFT_FUZZ_HANG_SECONDS), or if the memory in use more than doubles after the first
// tenth of the time.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include <weft/sanitizers.h>

#include "program.h"
#include "runner.h"
#include "world.h"

namespace weft::fuzz {
namespace {

struct Options {
  int seconds = 10;
  uint64_t seed = std::random_device()();
  int workers = static_cast<int>(std::max(2u, std::thread::hardware_concurrency()));
  int clients = 8;
};

// What a client has run.
struct Tally {
  uint64_t numPrograms = 0;
  std::map<const OpType*, uint64_t> numOps;
};

Program randomProgram(std::mt19937_64& random) {
  std::vector<uint8_t> input(1 + 4 * (random() % kMaxOps));
  std::generate(input.begin(), input.end(), [&] { return static_cast<uint8_t>(random()); });
  for (size_t i = 1; i < input.size(); i += 4) {
    if (random() % 6 == 0) {
      input[i] = kScriptType;
    }
  }
  return decode(input.data(), input.size());
}

// Runs programs until the time is up.
Tally runClient(const Options& options, int client, const SharedSchedulers& shared,
                const std::atomic<bool>& isOver) {
  std::seed_seq seed{options.seed, options.seed >> 32, static_cast<uint64_t>(client)};
  std::mt19937_64 random(seed);
  Tally tally;
  while (!isOver) {
    Program program = randomProgram(random);
    const bool isShared = random() % 4 != 0;
    if (isShared) {
      program.numWorkers = options.workers;
      program.numFairThreads = 2;
      program.endsEarly = false;
      program.searches = true;
    }
    run(program, isShared ? &shared : nullptr);
    ++tally.numPrograms;
    for (const Script& script : program.scripts) {
      for (const Op& op : script.ops) {
        ++tally.numOps[op.type];
      }
    }
  }
  return tally;
}

// Returns: the memory in use, in KiB.
size_t residentMemory() {
  size_t size = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu %zu", &size, &resident) != 2) {
      resident = 0;
    }
    std::fclose(file);
  }
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

// Returns, when the time is up: the most memory in use in each tenth of it, in KiB.
std::vector<size_t> measureMemory(std::chrono::seconds time) {
  using std::chrono::steady_clock;
  std::vector<size_t> rss;
  const auto begin = steady_clock::now();
  for (auto now = begin; now < begin + time; now = steady_clock::now()) {
    const auto tenth = static_cast<size_t>(10 * (now - begin) / time);
    rss.resize(std::max(rss.size(), tenth + 1));
    rss[tenth] = std::max(rss[tenth], residentMemory());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return rss;
}

bool isBounded(const std::vector<size_t>& rss) {
  std::printf("memory in each tenth of the time, MiB:");
  for (size_t kib : rss) {
    std::printf(" %zu", kib / 1024);
  }
  std::printf("\n");
  // A sanitizer keeps what was freed.
  if (WEFT_ADDRESS_SANITIZER_ENABLED != 0 || WEFT_THREAD_SANITIZER_ENABLED != 0) {
    return true;
  }
  // What a few stacks take is no growth.
  constexpr size_t kLeast = size_t{16} * 1024;
  const bool isBounded = *std::max_element(rss.begin(), rss.end()) <= 2 * std::max(rss.front(), kLeast);
  if (!isBounded) {
    std::printf("the memory in use has more than doubled\n");
  }
  return isBounded;
}

void print(const std::vector<Tally>& tallies, int seconds) {
  Tally all;
  for (const Tally& tally : tallies) {
    all.numPrograms += tally.numPrograms;
    for (const auto& [type, number] : tally.numOps) {
      all.numOps[type] += number;
    }
  }
  uint64_t numOps = 0;
  for (const auto& ops : opTables()) {
    for (const OpType& type : ops) {
      std::printf("%10" PRIu64 "  %s\n", all.numOps[&type], type.name);
      numOps += all.numOps[&type];
    }
  }
  const auto perSecond = [&](uint64_t number) { return number / static_cast<uint64_t>(seconds); };
  std::printf("%10" PRIu64 "  operations, %" PRIu64 " in a second\n", numOps, perSecond(numOps));
  std::printf("%10" PRIu64 "  programs, %" PRIu64 " in a second\n", all.numPrograms,
              perSecond(all.numPrograms));
}

// Returns: whether the memory in use was bounded.
bool soak(const Options& options) {
  std::printf("%d s, seed %" PRIu64 ", %d workers, %d clients\n", options.seconds, options.seed,
              options.workers, options.clients);
  std::fflush(stdout);
  beginWatching();
  std::vector<Tally> tallies(static_cast<size_t>(options.clients));
  std::vector<size_t> rss;
  {
    Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(options.workers));
    fair::TaskScheduler fairScheduler("soak", 2);
    const SharedSchedulers shared{scheduler, fairScheduler};
    std::atomic<bool> isOver{false};
    std::vector<std::thread> clients;
    for (int i = 0; i < options.clients; ++i) {
      clients.emplace_back(
          [&, i] { tallies[static_cast<size_t>(i)] = runClient(options, i, shared, isOver); });
    }
    rss = measureMemory(std::chrono::seconds(options.seconds));
    isOver = true;
    for (std::thread& client : clients) {
      client.join();
    }
  }
  print(tallies, options.seconds);
  return isBounded(rss);
}

bool readOptions(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (std::strcmp(argv[i], "--seconds") == 0) {
      options.seconds = std::atoi(value);
    } else if (std::strcmp(argv[i], "--seed") == 0) {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (std::strcmp(argv[i], "--workers") == 0) {
      options.workers = std::atoi(value);
    } else if (std::strcmp(argv[i], "--clients") == 0) {
      options.clients = std::atoi(value);
    } else {
      return false;
    }
  }
  return options.seconds > 0 && options.workers > 0 && options.clients > 0 &&
         static_cast<size_t>(options.clients) <= kMaxRunning;
}

}  // namespace
}  // namespace weft::fuzz

int main(int argc, char** argv) {
  weft::fuzz::Options options;
  if (!readOptions(argc, argv, options)) {
    std::fputs("usage: weft_soak [--seconds N] [--seed N] [--workers N] [--clients N]\n", stderr);
    return 2;
  }
  return soak(options) ? 0 : 1;
}
