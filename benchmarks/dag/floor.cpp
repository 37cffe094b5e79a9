// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The graph without a scheduler: one thread counts each node's dependencies down and calls what is ready,
// through a pointer, from a stack of nodes.

#include <functional>

#include "problem.h"

namespace {

class Graph {
 public:
  Graph(dag::Shape shape, int64_t side, dag::Calls& calls) {
    nodes_.emplace_back();
    const auto addNode = [&](int64_t i) { nodes_.push_back({[&calls, i] { calls.count(i); }, {}, 0, 0}); };
    const auto addEdge = [&](int64_t before, int64_t after) {
      nodes_[static_cast<size_t>(before)].after.push_back(static_cast<uint32_t>(after));
      nodes_[static_cast<size_t>(after)].dependencies++;
    };
    dag::describe(shape, side, addNode, addEdge);
  }

  void run() {
    for (Node& node : nodes_) {
      node.left = node.dependencies;
    }
    std::vector<uint32_t> ready{0};
    while (!ready.empty()) {
      Node& node = nodes_[ready.back()];
      ready.pop_back();
      if (node.function) {
        node.function();
      }
      for (uint32_t after : node.after) {
        if (--nodes_[after].left == 0) {
          ready.push_back(after);
        }
      }
    }
  }

 private:
  struct Node {
    std::function<void()> function;
    std::vector<uint32_t> after;
    uint32_t dependencies = 0;
    uint32_t left = 0;
  };

  std::vector<Node> nodes_;
};

template <dag::Shape shape>
void run(bench::Run& r) {
  dag::measure<Graph>(r, shape);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "dag", "floor",
                        {{"deep", {1}, run<dag::Shape::Deep>},
                         {"wide", {1}, run<dag::Shape::Wide>},
                         {"diamond", {1}, run<dag::Shape::Diamond>}});
}
