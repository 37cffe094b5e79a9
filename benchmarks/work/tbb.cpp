// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <oneapi/tbb/flow_graph.h>

#include <deque>

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

class Graph {
 public:
  template <class Program>
  Graph(Program& program, const work::Dependencies& dependencies) {
    for (size_t i = 0; i < program.size(); i++) {
      nodes_.emplace_back(graph_, [&program, i](const tbb::flow::continue_msg&) { program.step(i); });
      for (size_t before : dependencies[i]) {
        tbb::flow::make_edge(nodes_[before], nodes_[i]);
      }
      if (dependencies[i].empty()) {
        tbb::flow::make_edge(start_, nodes_[i]);
      }
    }
  }

  void run() {
    start_.try_put(tbb::flow::continue_msg());
    graph_.wait_for_all();
  }

 private:
  tbb::flow::graph graph_;
  tbb::flow::broadcast_node<tbb::flow::continue_msg> start_{graph_};
  std::deque<tbb::flow::continue_node<tbb::flow::continue_msg>> nodes_;
};

template <class Program>
void run(bench::Run& r) {
  bench::inArena(r.workers(), [&] { work::measure<Graph, Program>(r); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "work", "tbb",
                        {{"frame", {1, 2}, run<work::Frame>}, {"build", {1, 2}, run<work::Build>}});
}
