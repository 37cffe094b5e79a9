// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

class Graph {
 public:
  template <class Program>
  Graph(Program& program, const work::Dependencies& dependencies) {
    weft::DAG<>::Builder builder;
    std::vector<weft::DAG<>::NodeBuilder> nodes;
    for (size_t i = 0; i < program.size(); i++) {
      nodes.push_back(builder.node([&program, i] { program.step(i); }));
      for (size_t before : dependencies[i]) {
        builder.addDependency(nodes[before], nodes[i]);
      }
      if (dependencies[i].empty()) {
        builder.addDependency(builder.root(), nodes[i]);
      }
    }
    dag_ = builder.build();
  }

  void run() { dag_->run(); }

 private:
  weft::Allocator::unique_ptr<weft::DAG<>> dag_;
};

template <class Program>
void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { work::measure<Graph, Program>(r); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "work", "weft",
                        {{"frame", {1, 2}, run<work::Frame>}, {"build", {1, 2}, run<work::Build>}});
}
