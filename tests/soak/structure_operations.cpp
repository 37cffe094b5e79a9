// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "soak.h"

// Operations that are made of tasks: forks, groups, loops, futures, graphs, tickets.
namespace weft::soak {
namespace {

struct Tree {
  explicit Tree(Random random) : depth(random.between(1, 12)), key(random.next()) {}

  int depth;
  uint64_t key;
};

uint64_t joinTree(int depth, uint64_t key) {
  if (depth == 0) {
    return mix(key);
  }
  const auto [a, b] =
      join([=] { return joinTree(depth - 1, 2 * key); }, [=] { return joinTree(depth - 1, 2 * key + 1); });
  return a + b;
}

uint64_t runJoin(const Ground&, Random random) {
  const Tree the(random);
  return joinTree(the.depth, the.key);
}

uint64_t expectJoin(Random random) {
  const Tree the(random);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < uint64_t{1} << the.depth; ++i) {
    sum += mix((the.key << the.depth) + i);
  }
  return sum;
}

// As many values as `count`, which begin at `key`.
struct Values {
  explicit Values(Random random) : count(random.between(1, 2000)), key(random.next()) {}
  uint64_t operator[](int i) const { return mix(key + static_cast<uint64_t>(i)); }

  int count;
  uint64_t key;
};

uint64_t expectSum(Random random) {
  const Values the(random);
  uint64_t sum = 0;
  for (int i = 0; i < the.count; ++i) {
    sum += the[i];
  }
  return sum;
}

uint64_t runLoops(const Ground&, Random random) {
  const Values the(random);
  std::vector<uint64_t> values(static_cast<size_t>(the.count));
  parallelFor(0, the.count, [&](int i) { values[static_cast<size_t>(i)] = the[i]; });
  parallelSort(values.begin(), values.end());
  require(std::is_sorted(values.begin(), values.end()), "parallelSort() has not sorted");
  return parallelReduce(values, uint64_t{0});
}

// A group of groups; and one that fails.
uint64_t runGroups(const Ground&, Random random) {
  const Values the(random);
  std::atomic<uint64_t> sum{0};
  TaskGroup outer;
  for (int begin = 0; begin < the.count; begin += 64) {
    outer.run([&the, &sum, begin] {
      TaskGroup inner;
      for (int i = begin; i < std::min(begin + 64, the.count); ++i) {
        inner.run([&the, &sum, i] {
          if (i % 32 == 7) {
            yield();
          }
          sum += the[i];
        });
      }
      inner.wait();
    });
  }
  outer.wait();

  TaskGroup failing;
  failing.run([] { yield(); });
  failing.run([] { throw std::runtime_error("soak"); });
  bool hasFailed = false;
  try {
    failing.wait();
  } catch (const std::runtime_error&) {
    hasFailed = true;
  }
  require(hasFailed, "a group has lost an exception");
  return sum;
}

struct Chain {
  explicit Chain(Random random) : length(random.between(1, 12)), key(random.next()) {}

  int length;
  uint64_t key;
};

uint64_t runFutures(const Ground& ground, Random random) {
  const Chain the(random);
  Promise<uint64_t> promise;
  SharedFuture<uint64_t> begun = promise.get_future().share();
  std::vector<Future<uint64_t>> ends;
  for (int i = 0; i < the.length; ++i) {
    Future<uint64_t> end = begun.then([i](uint64_t value) { return mix(value + static_cast<uint64_t>(i)); });
    for (int k = 0; k < i; ++k) {
      end = end.then([](uint64_t value) { return async([value] { return mix(value); }); });
    }
    ends.push_back(std::move(end));
  }
  ground.spawn([key = the.key, taken = std::move(promise)]() mutable { taken.set_value(key); });
  uint64_t sum = 0;
  for (Future<uint64_t>& end : whenAll(std::move(ends)).get()) {
    sum += end.get();
  }
  Future<int> broken = Promise<int>().get_future();
  require(broken.ready() && broken.exception() != nullptr, "a broken promise was not told");
  return sum;
}

uint64_t expectFutures(Random random) {
  const Chain the(random);
  uint64_t sum = 0;
  for (int i = 0; i < the.length; ++i) {
    uint64_t value = mix(the.key + static_cast<uint64_t>(i));
    for (int k = 0; k < i; ++k) {
      value = mix(value);
    }
    sum += value;
  }
  return sum;
}

// Node i depends on the nodes i / 2 and i / 3.
constexpr size_t kNodes = 16;
using NodeValues = std::array<uint64_t, kNodes>;

void runNode(NodeValues& values, size_t i) { values[i] = mix(values[i / 2] + 3 * values[i / 3] + i); }

DAG<NodeValues&>& theGraph() {
  static const auto graph = [] {
    DAG<NodeValues&>::Builder builder;
    std::vector<DAG<NodeValues&>::NodeBuilder> nodes = {builder.root()};
    for (size_t i = 1; i < kNodes; ++i) {
      nodes.push_back(builder.node([i](NodeValues& values) { runNode(values, i); }, {nodes[i / 2]}));
      if (i / 3 != i / 2) {
        builder.addDependency(nodes[i / 3], nodes[i]);
      }
    }
    return builder.build();
  }();
  return *graph;
}

uint64_t runGraph(const Ground& ground, Random random) {
  NodeValues values{};
  values[0] = random.next();
  std::optional<Scheduler::Binding> bound;
  if (Scheduler::get() == nullptr) {
    bound.emplace(ground.scheduler);
  }
  theGraph().run(values);
  return values[kNodes - 1];
}

uint64_t expectGraph(Random random) {
  NodeValues values{};
  values[0] = random.next();
  for (size_t i = 1; i < kNodes; ++i) {
    runNode(values, i);
  }
  return values[kNodes - 1];
}

uint64_t runTickets(const Ground& ground, Random random) {
  const Chain the(random);
  uint64_t value = the.key;
  Ticket::Queue queue;
  for (int i = 0; i < the.length; ++i) {
    ground.spawn([&value, i, ticket = queue.take()] {
      ticket.wait();
      value = mix(value + static_cast<uint64_t>(i));
      ticket.done();
    });
  }
  queue.take().wait();
  return value;
}

uint64_t expectTickets(Random random) {
  const Chain the(random);
  uint64_t value = the.key;
  for (int i = 0; i < the.length; ++i) {
    value = mix(value + static_cast<uint64_t>(i));
  }
  return value;
}

constexpr Operation kOperations[] = {
    {"join", runJoin, expectJoin},    {"loops", runLoops, expectSum},
    {"groups", runGroups, expectSum}, {"futures", runFutures, expectFutures},
    {"graph", runGraph, expectGraph}, {"tickets", runTickets, expectTickets},
};

}  // namespace

std::span<const Operation> structureOperations() { return kOperations; }

}  // namespace weft::soak
