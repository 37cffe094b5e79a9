// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

class Graph {
 public:
  Graph(dag::Shape shape, int64_t side, dag::Calls& calls) {
    weft::DAG<>::Builder builder;
    std::vector<weft::DAG<>::NodeBuilder> nodes{builder.root()};
    const auto addNode = [&](int64_t i) { nodes.push_back(builder.node([&calls, i] { calls.count(i); })); };
    const auto addEdge = [&](int64_t before, int64_t after) {
      builder.addDependency(nodes[static_cast<size_t>(before)], nodes[static_cast<size_t>(after)]);
    };
    dag::describe(shape, side, addNode, addEdge);
    dag_ = builder.build();
  }

  void run() { dag_->run(); }

 private:
  weft::Allocator::unique_ptr<weft::DAG<>> dag_;
};

template <dag::Shape shape>
void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { dag::measure<Graph>(r, shape); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "dag", "weft",
                        {{"deep", {1, 2}, run<dag::Shape::Deep>},
                         {"wide", {1, 2}, run<dag::Shape::Wide>},
                         {"diamond", {1, 2}, run<dag::Shape::Diamond>}});
}
