// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/detail/forkjoin/dag_graph.h"

namespace weft::inline v0_1::detail {
namespace {

// Appends a string in quotes. Graphviz would take a backslash for an escape, and a line feed would end a line
// of the text.
void appendQuoted(std::string& text, std::string_view name) {
  text += '"';
  for (const char c : name) {
    if (c == '\n') {
      text += "\\n";
    } else if (c != '\0') {
      text += c == '"' || c == '\\' ? "\\" : "";
      text += c;
    }
  }
  text += '"';
}

std::string idOf(uint32_t node) { return "n" + std::to_string(node); }

}  // namespace

std::string DagGraph::dot() const {
  std::string text = "digraph dag {\n";
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const std::string_view name = nameOf(i);
    text += "  " + idOf(i) + " [label=";
    appendQuoted(text, !name.empty() ? std::string(name) : i == kRoot ? "root" : "node " + std::to_string(i));
    text += i == kRoot ? ", shape=box];\n" : numOptionsOf(i) > 0 ? ", shape=diamond];\n" : "];\n";
  }
  std::vector<uint32_t> numShown(nodes_.size());
  const auto addEdge = [&](uint32_t before, uint32_t after) {
    const uint32_t option = numShown[before]++;
    text += "  " + idOf(before) + " -> " + idOf(after);
    text += option < numOptionsOf(before) ? " [style=dashed, label=\"" + std::to_string(option) + "\"];\n"
                                          : ";\n";
  };
  for (const Edge& edge : edges_) {
    addEdge(edge.before, edge.after);
  }
  if (edges_.empty()) {
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      for (uint32_t out = 0; out < nodes_[i].numOuts; ++out) {
        addEdge(i, outs_[nodes_[i].firstOut + out]);
      }
    }
  }
  return text + "}\n";
}

}  // namespace weft::inline v0_1::detail
