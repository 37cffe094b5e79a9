// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does a node of a graph cost, when its function does next to nothing? A graph of a million nodes is
// made once and run again and again, by workload:
//
//   deep      a chain
//   wide      one node before all others, and one after them
//   diamond   a square grid in which each node depends on the one above and the one to the left
//
// Two figures: ns_per_node of a run, and build_ns_per_node of making the graph.

#pragma once

#include <cstdint>
#include <vector>

#include "../common/harness.h"

namespace dag {

enum class Shape { Deep, Wide, Diamond };

inline int64_t side(const bench::Run& run) { return run.size<int64_t>(1000, 20); }

// Calls node(i), then edge(before, after), for all nodes after the source, which is node 0.
template <class AddNode, class AddEdge>
void describe(Shape shape, int64_t n, AddNode node, AddEdge edge) {
  const int64_t total = n * n;
  for (int64_t i = 1; i <= total; i++) {
    node(i);
  }
  for (int64_t i = 1; i <= total; i++) {
    if (shape == Shape::Deep) {
      edge(i - 1, i);
    } else if (shape == Shape::Wide) {
      edge(i == total ? 1 : 0, i);
      if (i > 1 && i < total) {
        edge(i, total);
      }
    } else {
      const int64_t row = (i - 1) / n, column = (i - 1) % n;
      if (row > 0) {
        edge(i - n, i);
      }
      if (column > 0 || row == 0) {
        edge(i - 1, i);
      }
    }
  }
}

// The oracle: each node counts its calls.
class Calls {
 public:
  explicit Calls(int64_t total) : counts_(static_cast<size_t>(total) + 1) {}
  void count(int64_t i) { ++counts_[static_cast<size_t>(i)]; }
  void check(uint32_t expected) const {
    for (size_t i = 1; i < counts_.size(); i++) {
      bench::check(counts_[i] == expected, "dag");
    }
  }

 private:
  std::vector<uint32_t> counts_;
};

// Measures graph.run(), where Graph(shape, side, calls) has made it.
template <class Graph>
void measure(bench::Run& run, Shape shape) {
  const int64_t n = side(run);
  const auto total = static_cast<double>(n * n);
  Calls calls(n * n);
  Graph* graph = nullptr;
  double buildNs = run.onceNs([&] { graph = new Graph(shape, n, calls); });
  uint32_t runs = 0;
  double ns = run.medianNs([&] {
    graph->run();
    runs++;
  });
  calls.check(runs);
  delete graph;
  run.metric("ns_per_node", ns / total);
  run.metric("build_ns_per_node", buildNs / total);
}

}  // namespace dag
