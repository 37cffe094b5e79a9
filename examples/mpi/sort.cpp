// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sorts numbers that lie on several ranks: mpiexec -n 4 sort [--count=N] [--check]. Each rank sorts its own
// with all of its workers. Samples of all ranks say which numbers each rank gets. Then the ranks exchange
// their numbers, and merge what they get. Checks that all numbers are there, in order and spread evenly; with
// --check, rank 0 compares them with what std::sort makes.

#include <weft/mpi.h>
#include <weft/weft.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using weft::mpi::Communicator;
using Numbers = std::vector<uint64_t>;

struct Options {
  uint64_t count = 100'000'000;  // on all ranks together
  bool isChecked = false;        // against std::sort
};

// Returns: whether the arguments are right. They are in `options` then.
bool parse(int argc, char** argv, Options& options) {
  constexpr std::string_view kCount = "--count=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--check") {
      options.isChecked = true;
      continue;
    }
    if (!argument.starts_with(kCount)) {
      return false;
    }
    const char* const end = argument.data() + argument.size();
    const auto [stop, error] = std::from_chars(argument.data() + kCount.size(), end, options.count);
    if (error != std::errc() || stop != end) {
      return false;
    }
  }
  return true;
}

// Returns: the numbers that this rank has at first. They are less than `count`, so that some are equal.
Numbers makeNumbers(const Communicator& ranks, uint64_t count) {
  const auto rank = static_cast<uint64_t>(ranks.rank()), size = static_cast<uint64_t>(ranks.size());
  Numbers numbers(count / size + (rank < count % size ? 1 : 0));
  std::mt19937_64 random(rank);
  std::generate(numbers.begin(), numbers.end(), [&] { return random() % count; });
  return numbers;
}

// Returns: for each rank but the first, the least number that it gets. These divide samples of all ranks
// evenly.
Numbers chooseBorders(const Communicator& ranks, const Numbers& sorted) {
  constexpr size_t kSamples = 256;
  Numbers mine(kSamples, UINT64_MAX);  // stays so on a rank without numbers
  for (size_t i = 0; i < kSamples && !sorted.empty(); ++i) {
    mine[i] = sorted[sorted.size() * i / kSamples];
  }
  const auto size = static_cast<size_t>(ranks.size());
  Numbers all(kSamples * size);
  ranks.allgather(mine, all);
  std::sort(all.begin(), all.end());
  Numbers borders;
  for (size_t rank = 1; rank < size; ++rank) {
    borders.push_back(all[kSamples * rank]);
  }
  return borders;
}

// Sorted runs, one after the other.
struct Runs {
  Numbers numbers;
  std::vector<int> lengths;
};

// Returns: the numbers of all ranks that belong on this one, in a run for each rank.
Runs exchange(const Communicator& ranks, const Numbers& sorted, const Numbers& borders) {
  std::vector<int> sent;
  auto begin = sorted.begin();
  for (const uint64_t border : borders) {
    const auto end = std::lower_bound(begin, sorted.end(), border);
    sent.push_back(static_cast<int>(end - begin));
    begin = end;
  }
  sent.push_back(static_cast<int>(sorted.end() - begin));

  Runs runs{{}, std::vector<int>(sent.size())};
  ranks.alltoall(sent, runs.lengths);
  runs.numbers.resize(std::accumulate(runs.lengths.begin(), runs.lengths.end(), size_t{0}));
  ranks.alltoallv(sorted, sent, runs.numbers, runs.lengths);
  return runs;
}

// Returns: one run. Each round merges pairs of runs.
Numbers merge(Runs runs) {
  Numbers merged(runs.numbers.size());
  while (runs.lengths.size() > 1) {
    std::vector<int> lengths;
    auto first = runs.numbers.begin();
    auto out = merged.begin();
    for (size_t i = 0; i < runs.lengths.size(); i += 2) {
      const auto second = first + runs.lengths[i];
      const auto end = second + (i + 1 < runs.lengths.size() ? runs.lengths[i + 1] : 0);
      out = weft::parallelMerge(first, second, second, end, out);
      lengths.push_back(static_cast<int>(end - first));
      first = end;
    }
    std::swap(runs.numbers, merged);
    runs.lengths = std::move(lengths);
  }
  return std::move(runs.numbers);
}

Numbers sort(const Communicator& ranks, Numbers numbers) {
  weft::parallelSort(numbers);
  return merge(exchange(ranks, numbers, chooseBorders(ranks, numbers)));
}

// Returns: how many numbers all ranks have, their sum, and the sum of their squares, modulo 2^64.
std::array<uint64_t, 3> sumsOf(const Communicator& ranks, const Numbers& numbers) {
  std::array<uint64_t, 3> sums{numbers.size(), 0, 0};
  for (const uint64_t number : numbers) {
    sums[1] += number;
    sums[2] += number * number;
  }
  ranks.allreduce(sums, MPI_SUM);
  return sums;
}

// Returns: on each rank, whether the numbers of all are in order.
bool areSorted(const Communicator& ranks, const Numbers& numbers) {
  const uint64_t last = numbers.empty() ? 0 : numbers.back();
  uint64_t before = 0;  // the largest number of the ranks before; of no meaning on the first
  ranks.exscan(last, before, MPI_MAX);
  bool areAll = std::is_sorted(numbers.begin(), numbers.end()) &&
                (ranks.rank() == 0 || numbers.empty() || before <= numbers.front());
  ranks.allreduce(areAll, MPI_LAND);
  return areAll;
}

// Returns: on each rank, whether none has many more numbers than its share.
bool areSpread(const Communicator& ranks, const Numbers& numbers, uint64_t count) {
  uint64_t most = numbers.size();
  ranks.allreduce(most, MPI_MAX);
  return most <= 1000 + count / static_cast<uint64_t>(ranks.size()) * 5 / 4;
}

// Returns: on rank 0 the numbers of all ranks.
Numbers gather(const Communicator& ranks, const Numbers& numbers) {
  std::vector<int> counts(static_cast<size_t>(ranks.size()));
  ranks.gather(static_cast<int>(numbers.size()), counts);
  Numbers all(std::accumulate(counts.begin(), counts.end(), size_t{0}));
  ranks.gatherv(numbers, all, counts);
  return all;
}

// Returns: on each rank, whether `sorted` is what std::sort makes of `input`.
bool isAsStdSort(const Communicator& ranks, const Numbers& input, const Numbers& sorted) {
  Numbers expected = gather(ranks, input);
  const Numbers all = gather(ranks, sorted);
  std::sort(expected.begin(), expected.end());
  bool isSo = all == expected;
  ranks.bcast(isSo);
  return isSo;
}

}  // namespace

int main(int argc, char** argv) {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  const weft::mpi::Environment mpi(argc, argv);
  const Communicator& ranks = weft::mpi::world();
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(ranks.rank() == 0 ? "usage: sort [--count=N] [--check]\n" : "", stderr);
    return 2;
  }

  const Numbers input = makeNumbers(ranks, options.count);
  ranks.barrier();
  const auto start = std::chrono::steady_clock::now();
  const Numbers sorted = sort(ranks, input);
  ranks.barrier();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const bool isRight = sumsOf(ranks, input) == sumsOf(ranks, sorted) && areSorted(ranks, sorted) &&
                       areSpread(ranks, sorted, options.count) &&
                       (!options.isChecked || isAsStdSort(ranks, input, sorted));
  if (ranks.rank() == 0) {
    std::printf("%" PRIu64 " numbers on %d ranks: %s, in %.2f s\n", options.count, ranks.size(),
                isRight ? "sorted" : "WRONG", seconds.count());
  }
  return isRight ? 0 : 1;
}
