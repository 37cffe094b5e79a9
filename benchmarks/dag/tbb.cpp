// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <oneapi/tbb/flow_graph.h>

#include <deque>

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

class Graph {
 public:
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;

  Graph(dag::Shape shape, int64_t side, dag::Calls& calls) {
    nodes_.emplace_back(graph_, [](const tbb::flow::continue_msg&) {});
    const auto addNode = [&](int64_t i) {
      nodes_.emplace_back(graph_, [&calls, i](const tbb::flow::continue_msg&) { calls.count(i); });
    };
    const auto addEdge = [&](int64_t before, int64_t after) {
      tbb::flow::make_edge(nodes_[static_cast<size_t>(before)], nodes_[static_cast<size_t>(after)]);
    };
    dag::describe(shape, side, addNode, addEdge);
  }

  void run() {
    nodes_.front().try_put(tbb::flow::continue_msg());
    graph_.wait_for_all();
  }

 private:
  tbb::flow::graph graph_;
  std::deque<Node> nodes_;
};

template <dag::Shape shape>
void run(bench::Run& r) {
  bench::inArena(r.workers(), [&] { dag::measure<Graph>(r, shape); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "dag", "tbb",
                        {{"deep", {1, 2}, run<dag::Shape::Deep>},
                         {"wide", {1, 2}, run<dag::Shape::Wide>},
                         {"diamond", {1, 2}, run<dag::Shape::Diamond>}});
}
