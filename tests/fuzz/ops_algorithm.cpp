// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "world.h"

// The operations that call parallel algorithms, and compare them with the standard library's.
namespace weft::fuzz {
namespace {

// Numbers below 256, made of the operands: up to 1,020, or up to 16,320, so that a sort and a scan are split.
// Calls for the number `yieldsAt` yield.
struct Numbers {
  explicit Numbers(const Op& op) : yieldsAt(op.a) {
    const int count = (op.a % 4 == 3 ? 64 : 4) * op.b;
    auto bits = static_cast<uint32_t>(op.a * 256 + op.b);
    for (int i = 0; i < count; ++i) {
      bits = bits * 1664525u + 1013904223u;
      values.push_back(static_cast<int>(bits >> 24));
    }
  }
  void yieldAt(int value) const {
    if (value == yieldsAt) {
      yield();
    }
  }

  std::vector<int> values;
  int yieldsAt;
};

void find(Actor&, const Op& op) {
  const Numbers numbers(op);
  const std::vector<int>& all = numbers.values;
  const auto isMatch = [&](int value) {
    numbers.yieldAt(value);
    return value == op.b || value > 252;
  };
  check(parallelFind(all, isMatch) == std::find_if(all.begin(), all.end(), isMatch),
        "parallelFind() found another element");
  const auto count = static_cast<size_t>(std::count_if(all.begin(), all.end(), isMatch));
  check(parallelCountIf(all, isMatch) == count, "parallelCountIf() did not count %zu", count);
  check(parallelAnyOf(all, isMatch) == (count > 0), "parallelAnyOf() of %zu matches", count);
  check(parallelNoneOf(all, isMatch) == (count == 0), "parallelNoneOf() of %zu matches", count);
  check(parallelAllOf(all, isMatch) == (count == all.size()), "parallelAllOf() of %zu matches", count);
  check(parallelMinElement(all) == std::min_element(all.begin(), all.end()),
        "parallelMinElement() found another element");
  // std::max_element, too, gives the first of equal elements.
  check(parallelMaxElement(all) == std::max_element(all.begin(), all.end()),
        "parallelMaxElement() found another element");
}

// An element with its place, which `less` does not look at.
using Placed = std::pair<int, size_t>;

bool isLess(const Placed& a, const Placed& b) { return a.first < b.first; }

void copyAndMerge(Actor&, const Op& op) {
  const Numbers numbers(op);
  std::vector<Placed> all, copied(numbers.values.size()), wanted(numbers.values.size());
  for (int value : numbers.values) {
    all.emplace_back(value, all.size());
  }
  const auto isMatch = [&](const Placed& one) {
    numbers.yieldAt(one.first);
    return one.first < op.a;
  };
  copied.erase(parallelCopyIf(all, copied.begin(), isMatch), copied.end());
  wanted.erase(std::copy_if(all.begin(), all.end(), wanted.begin(), isMatch), wanted.end());
  check(copied == wanted, "parallelCopyIf() copied %zu elements instead of %zu", copied.size(),
        wanted.size());

  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 3);
  std::sort(all.begin(), middle);
  std::sort(middle, all.end());
  std::vector<Placed> merged(all.size()), inOrder(all.size());
  const auto end = parallelMerge(all.begin(), middle, middle, all.end(), merged.begin(), isLess);
  std::merge(all.begin(), middle, middle, all.end(), inOrder.begin(), isLess);
  check(end == merged.end() && merged == inOrder, "parallelMerge() has not merged");
}

// A stop that a call requests for one number; none, if there is no such number.
struct StopAt {
  explicit StopAt(const Op& op) : number(op.b % 2 == 0 ? -1 : op.a), token(source.get_token()) {}
  void lookAt(int value) {
    if (value == number) {
      source.request_stop();
    }
  }

  int number;
  std::stop_source source;
  std::stop_token token;
};

void stopReduce(Actor&, const Op& op) {
  const Numbers numbers(op);
  StopAt stop(op);
  const auto map = [&](int value) {
    numbers.yieldAt(value + 1);
    stop.lookAt(value);
    return value;
  };
  try {
    const int sum = parallelMapReduce(numbers.values, 0, map, std::plus<>(), stop.token);
    check(!stop.source.stop_requested(), "parallelMapReduce() gave a value after a stop");
    check(sum == std::accumulate(numbers.values.begin(), numbers.values.end(), 0),
          "parallelMapReduce() gave %d", sum);
  } catch (const TaskCanceled&) {
    check(stop.source.stop_requested(), "parallelMapReduce() was stopped by nobody");
  }
}

void stopScan(Actor&, const Op& op) {
  const Numbers numbers(op);
  StopAt stop(op);
  const auto add = [&](int a, int b) {
    stop.lookAt(b);
    return a + b;
  };
  std::vector<int> sums(numbers.values.size()), wanted(sums.size());
  std::partial_sum(numbers.values.begin(), numbers.values.end(), wanted.begin());
  try {
    parallelScan(numbers.values, sums.begin(), add, stop.token);
    check(!stop.source.stop_requested(), "parallelScan() returned after a stop");
    check(sums == wanted, "parallelScan() gave other sums");
  } catch (const TaskCanceled&) {
    check(stop.source.stop_requested(), "parallelScan() was stopped by nobody");
  }
}

void stopSort(Actor&, const Op& op) {
  const Numbers numbers(op);
  StopAt stop(op);
  const auto less = [&](int a, int b) {
    stop.lookAt(a);
    return a < b;
  };
  std::vector<int> sorted = numbers.values;
  try {
    if (op.b % 4 < 2) {
      parallelSort(sorted, less, stop.token);
    } else {
      parallelStableSort(sorted, less, stop.token);
    }
    check(!stop.source.stop_requested(), "a sort returned after a stop");
    check(std::is_sorted(sorted.begin(), sorted.end()), "a sort has not sorted");
  } catch (const TaskCanceled&) {
    check(stop.source.stop_requested(), "a sort was stopped by nobody");
  }
  std::vector<int> wanted = numbers.values;
  std::sort(wanted.begin(), wanted.end());
  std::sort(sorted.begin(), sorted.end());
  check(sorted == wanted, "a sort has lost elements");
}

void stopTransform(Actor&, const Op& op) {
  const Numbers numbers(op);
  StopAt stop(op);
  std::vector<int> negated(numbers.values.size(), 1);
  const auto negate = [&](int value) {
    numbers.yieldAt(value + 1);
    stop.lookAt(value);
    return -value;
  };
  const auto end = parallelTransform(numbers.values, negated.begin(), negate, stop.token);
  const bool isStopped = stop.source.stop_requested();
  check(end == negated.end(), "parallelTransform() returned another end");
  for (size_t i = 0; i < negated.size(); ++i) {
    check(negated[i] == -numbers.values[i] || (isStopped && negated[i] == 1),
          "parallelTransform() wrote %d for %d", negated[i], numbers.values[i]);
  }
  const auto isMatch = [&](int value) { return value == op.b; };
  const auto found = parallelFind(numbers.values, isMatch, stop.token), none = numbers.values.end();
  const auto first = std::find_if(numbers.values.begin(), none, isMatch);
  check(found == first || (isStopped && (found == none || isMatch(*found))),
        "parallelFind() found another element");
}

// Items through three stages, the last of which takes them in order. A stop ends the first stage alone.
void pipeItems(Actor&, const Op& op) {
  const int count = op.b / 2, tokens = 1 + op.a % 8;
  StopAt stop(op);
  std::atomic<int> numUnderWay{0};
  int numMade = 0, numTaken = 0;
  parallelPipeline(tokens, serialStage([&]() -> std::optional<int> {
                     stop.lookAt(numMade);
                     if (numMade == count) {
                       return std::nullopt;
                     }
                     check(++numUnderWay <= tokens, "a pipeline has more than %d items on their way", tokens);
                     return numMade++;
                   }),
                   parallelStage([&](int item) {
                     if (item % 8 == 3) {
                       yield();
                     }
                     return 2 * item;
                   }),
                   serialStage([&](int item) {
                     check(item == 2 * numTaken, "a pipeline gave %d after %d items", item, numTaken);
                     ++numTaken;
                     --numUnderWay;
                   }),
                   stop.token);
  check(numTaken == numMade, "a pipeline dropped %d of %d items", numMade - numTaken, numMade);
  const bool isStopped = stop.source.stop_requested();
  check(numMade == (isStopped ? std::min(stop.number + 1, count) : count), "a pipeline made %d of %d items",
        numMade, count);
}

constexpr OpType kOps[] = {
    {.name = "find", .a = Arg::Number, .b = Arg::Number, .run = find},
    {.name = "copy and merge", .a = Arg::Number, .b = Arg::Number, .run = copyAndMerge},
    {.name = "reduce until a stop", .a = Arg::Number, .b = Arg::Number, .run = stopReduce},
    {.name = "scan until a stop", .a = Arg::Number, .b = Arg::Number, .run = stopScan},
    {.name = "sort until a stop", .a = Arg::Number, .b = Arg::Number, .run = stopSort},
    {.name = "transform until a stop", .a = Arg::Number, .b = Arg::Number, .run = stopTransform},
    {.name = "pipeline", .a = Arg::Number, .b = Arg::Number, .run = pipeItems},
};

}  // namespace

std::span<const OpType> algorithmOps() { return kOps; }

}  // namespace weft::fuzz
