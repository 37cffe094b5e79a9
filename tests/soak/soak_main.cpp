// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runs a mixture of all operations for a time, from tasks, bound threads, threads with nothing bound, and
// threads with a scheduler of their own:
//
//   weft_soak [--seconds N] [--seed N] [--workers N] [--clients N]
//
// Then it compares the sum of what the operations of each kind have given with that of plain loops. Fails if
// a sum is another one, if nothing ends for two minutes, or if the memory in use more than doubles after the
// first tenth of the time.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <weft/sanitizers.h>

#include "soak.h"

namespace weft::soak {
namespace {

using std::chrono::steady_clock;

struct Options {
  int seconds = 10;
  uint64_t seed = std::random_device()();
  int workers = static_cast<int>(std::max(2u, std::thread::hardware_concurrency()));
  int clients = 8;
};

// What has been done of one kind.
struct Tally {
  const Operation* operation;
  std::atomic<uint64_t> numBegun{0}, numEnded{0}, sum{0};
};

class Soak {
 public:
  explicit Soak(const Options& options) : options_(options) {
    for (const auto& operations : {waitingOperations(), structureOperations(), schedulerOperations()}) {
      for (const Operation& operation : operations) {
        tallies_.push_back(std::make_unique<Tally>());
        tallies_.back()->operation = &operation;
      }
    }
  }

  // Returns: whether all went well.
  bool run();

 private:
  Random randomOf(size_t kind, uint64_t number) const {
    return Random(mix(options_.seed + 1) ^ mix((uint64_t{kind} << 48) + number));
  }
  void client(const Ground& ground, Random random);
  void startClient(int index, const Ground& ground, const WaitGroup& tasks);
  void watch(const Scheduler& scheduler);
  uint64_t numEnded() const;
  bool compare() const;
  bool isMemoryBounded() const;

  const Options options_;
  std::vector<std::unique_ptr<Tally>> tallies_;
  std::atomic<bool> isOver_{false};
  std::vector<std::thread> threads_;
  std::vector<size_t> rss_;  // the most of each tenth of the time, in KiB
};

// Does operations of random kinds until the time is up.
void Soak::client(const Ground& ground, Random random) {
  while (!isOver_) {
    const size_t kind = random.next() % tallies_.size();
    Tally& tally = *tallies_[kind];
    tally.sum += tally.operation->run(ground, randomOf(kind, tally.numBegun++));
    ++tally.numEnded;
    yield();
  }
}

void Soak::startClient(int index, const Ground& ground, const WaitGroup& tasks) {
  const Random random(mix(options_.seed + 2) + static_cast<uint64_t>(index));
  switch (index % 4) {
    case 0:
      ground.spawn([this, &ground, random, tasks] {
        client(ground, random);
        tasks.done();
      });
      return;
    case 1:
      threads_.emplace_back([this, &ground, random] {
        const Scheduler::Binding bound(ground.scheduler);
        client(ground, random);
      });
      break;
    case 2:
      threads_.emplace_back([this, &ground, random] { client(ground, random); });
      break;
    default:
      threads_.emplace_back([this, &ground, random] {
        Scheduler own(Scheduler::Config().setWorkerThreadCount(0));
        const Scheduler::Binding bound(own);
        client(ground, random);
      });
  }
  tasks.done();
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

// Measures the memory until the time is up, and ends the process if nothing happens.
void Soak::watch(const Scheduler& scheduler) {
  constexpr auto kPatience = std::chrono::minutes(2);
  const auto begin = steady_clock::now();
  const auto end = begin + std::chrono::seconds(options_.seconds);
  auto since = begin;
  uint64_t numSeen = 0;
  for (auto now = begin; now < end; now = steady_clock::now()) {
    const auto tenth = static_cast<size_t>(10 * (now - begin) / (end - begin));
    rss_.resize(std::max(rss_.size(), tenth + 1));
    rss_[tenth] = std::max(rss_[tenth], residentMemory());
    if (const uint64_t number = numEnded(); number != numSeen) {
      numSeen = number;
      since = now;
    } else if (now - since > kPatience) {
      scheduler.reportBlockedFibers();
      require(false, "nothing has ended for two minutes");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

uint64_t Soak::numEnded() const {
  uint64_t number = 0;
  for (const auto& tally : tallies_) {
    number += tally->numEnded;
  }
  return number;
}

bool Soak::run() {
  std::printf("%d s, seed %" PRIu64 ", %d workers, %d clients\n", options_.seconds, options_.seed,
              options_.workers, options_.clients);
  std::fflush(stdout);
  {
    Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(options_.workers));
    fair::TaskScheduler fairScheduler("soak", 2);
    const Ground ground{scheduler, fairScheduler};
    const WaitGroup tasks(static_cast<unsigned>(options_.clients));
    for (int i = 0; i < options_.clients; ++i) {
      startClient(i, ground, tasks);
    }
    watch(scheduler);
    isOver_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
    tasks.wait();
  }
  const bool isRight = compare();
  return isMemoryBounded() && isRight;
}

// Returns: whether each sum is what plain loops give.
bool Soak::compare() const {
  bool isRight = true;
  uint64_t checksum = 0;
  for (size_t kind = 0; kind < tallies_.size(); ++kind) {
    const Tally& tally = *tallies_[kind];
    uint64_t expected = 0;
    for (uint64_t i = 0, number = tally.numBegun; i < number; ++i) {
      expected += tally.operation->expected(randomOf(kind, i));
    }
    const bool isEqual = expected == tally.sum && tally.numBegun == tally.numEnded;
    std::printf("%10" PRIu64 "  %-22s%s\n", tally.numEnded.load(), tally.operation->name,
                isEqual ? "" : "  WRONG");
    isRight = isRight && isEqual;
    checksum = mix(checksum + tally.sum);
  }
  std::printf("%10" PRIu64 "  in all; checksum %016" PRIx64 ", which is %s\n", numEnded(), checksum,
              isRight ? "right" : "wrong");
  return isRight;
}

bool Soak::isMemoryBounded() const {
  std::printf("memory in each tenth of the time, MiB:");
  for (size_t kib : rss_) {
    std::printf(" %zu", kib / 1024);
  }
  std::printf("\n");
  // A sanitizer keeps what was freed.
  const bool counts = WEFT_ADDRESS_SANITIZER_ENABLED == 0 && WEFT_THREAD_SANITIZER_ENABLED == 0;
  // What a few stacks take is no growth.
  constexpr size_t kLeast = size_t{16} * 1024;
  const bool isBounded = *std::max_element(rss_.begin(), rss_.end()) <= 2 * std::max(rss_.front(), kLeast);
  if (counts && !isBounded) {
    std::printf("the memory in use has more than doubled\n");
  }
  return isBounded || !counts;
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
  return options.seconds > 0 && options.workers > 0 && options.clients > 0;
}

}  // namespace

void require(bool condition, const char* format, ...) {
  if (condition) {
    return;
  }
  std::fputs("soak: ", stderr);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputs("\n", stderr);
  std::abort();
}

static int run(int argc, char** argv) {
  Options options;
  if (!readOptions(argc, argv, options)) {
    std::fputs("usage: weft_soak [--seconds N] [--seed N] [--workers N] [--clients N]\n", stderr);
    return 2;
  }
  return Soak(options).run() ? 0 : 1;
}

}  // namespace weft::soak

int main(int argc, char** argv) { return weft::soak::run(argc, argv); }
