// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/forkjoin/dag_graph.h"

namespace weft::inline v0_1::detail {

DagGraph::DagGraph(Allocator* allocator)
    : allocator_(allocator),
      nodes_(allocator),
      edges_(allocator),
      outs_(allocator),
      names_(allocator),
      numOptions_(allocator) {
  nodes_.emplace_back(DagWork());
}

uint32_t DagGraph::addNode(DagWork&& work, size_t numEdges, size_t numOptions) {
  WEFT_ASSERT(nodes_.size() < kMost, "a DAG of more than %u nodes is not supported.", kMost);
  const size_t needed = edges_.size() + numEdges;
  if (needed > edges_.capacity()) {
    edges_.reserve(std::max(needed, 2 * edges_.capacity()));
  }
  if (numOptions > 0) {
    numOptions_.resize(nodes_.size() + 1, 0);
  }
  nodes_.emplace_back(std::move(work));
  if (numOptions > 0) {
    numOptions_.back() = static_cast<uint32_t>(numOptions);
  }
  return static_cast<uint32_t>(nodes_.size() - 1);
}

void DagGraph::addEdge(uint32_t before, uint32_t after) {
  WEFT_ASSERT(after != kRoot,
              "DAGBuilder::addDependency(): the root cannot depend on %s: "
              "each run begins with the root. Let that node depend on another one.",
              describe(before).c_str());
  edges_.push_back({before, after});
}

void DagGraph::setName(uint32_t node, std::string_view name) {
  Name copy(name, StlAllocator<char>(allocator_));
  if (node >= names_.size()) {
    names_.resize(node + 1, Name(StlAllocator<char>(allocator_)));
  }
  names_[node].swap(copy);
}

std::string_view DagGraph::nameOf(uint32_t node) const {
  return node < names_.size() ? std::string_view(names_[node]) : std::string_view();
}

std::string DagGraph::describe(uint32_t node) const {
  std::string text = "node " + std::to_string(node);
  if (const std::string_view name = nameOf(node); !name.empty()) {
    text.append(" \"").append(name).append("\"");
  }
  return text;
}

void DagGraph::finish() {
  sortEdges();
  checkAllRun();
  for (Node& node : nodes_) {
    if (node.numIns > 1) {
      node.counter = numCounters_++;
    }
    numLeaves_ += node.numOuts == 0 ? 1 : 0;
  }
}

// Makes one array of the successors of each node from the list of edges.
void DagGraph::sortEdges() {
  WEFT_ASSERT(edges_.size() < kMost, "a DAG of more than %u dependencies is not supported.", kMost);
  for (Node& node : nodes_) {
    node.numOuts = node.numIns = 0;  // an earlier call may have counted and then thrown
  }
  for (const Edge& edge : edges_) {
    ++nodes_[edge.before].numOuts;
    ++nodes_[edge.after].numIns;
  }
  uint32_t end = 0;
  for (Node& node : nodes_) {
    end += node.numOuts;
    node.firstOut = end;
  }
  outs_.resize(end);
  for (auto edge = edges_.rbegin(); edge != edges_.rend(); ++edge) {
    outs_[--nodes_[edge->before].firstOut] = edge->after;
  }
}

// Goes through the graph as a run would.
void DagGraph::checkAllRun() {
  // How many predecessors of each node have not run.
  Vector<uint32_t> missing{StlAllocator<uint32_t>(allocator_)};
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    WEFT_ASSERT(i == kRoot || nodes_[i].numIns > 0,
                "DAGBuilder::build(): %s depends on nothing, and would never run. Make it by root().then(), "
                "or give it a dependency. (Nodes are numbered in the order of adding; the root is 0.)",
                describe(i).c_str());
    missing.push_back(nodes_[i].numIns);
  }
  Vector<uint32_t> ready{StlAllocator<uint32_t>(allocator_)};
  ready.push_back(kRoot);
  size_t numRun = 0;
  for (; !ready.empty(); ++numRun) {
    const Node& node = nodes_[ready.back()];
    ready.pop_back();
    for (uint32_t i = node.firstOut; i < node.firstOut + node.numOuts; ++i) {
      if (--missing[outs_[i]] == 0) {
        ready.push_back(outs_[i]);
      }
    }
  }
  if (numRun < nodes_.size()) {
    reportCycle(missing);
  }
  edges_ = Vector<Edge>(edges_.get_allocator());
}

// Each node that lacks a predecessor has one that lacks one too, so a long enough walk back ends in a cycle.
void DagGraph::reportCycle(const Vector<uint32_t>& missing) const {
  Vector<uint32_t> predecessor(nodes_.size(), kNone, StlAllocator<uint32_t>(allocator_));
  for (const Edge& edge : edges_) {
    if (missing[edge.before] > 0) {
      predecessor[edge.after] = edge.before;
    }
  }
  auto node = static_cast<uint32_t>(
      std::find_if(missing.begin(), missing.end(), [](uint32_t n) { return n > 0; }) - missing.begin());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    node = predecessor[node];
  }
  WEFT_FATAL(
      "DAGBuilder::build(): %s depends on itself, by way of %s, and would never run. Take one dependency "
      "of the cycle away; dot() shows it. (Nodes are numbered in the order of adding; the root is 0.)",
      describe(node).c_str(), describe(predecessor[node]).c_str());
}

}  // namespace weft::inline v0_1::detail
