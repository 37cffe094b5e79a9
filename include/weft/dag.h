// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/dag_function.h"
#include "weft/detail/forkjoin/dag_graph.h"
#include "weft/memory.h"

namespace weft::inline v0_1 {

template <class T>
class DAGBuilder;
template <class T>
class DAGNodeBuilder;

// A directed acyclic graph of functions. A DAGBuilder makes it once, and it runs any number of times. A
// function is called, beside others, once the functions that it depends on have returned.
//
//   weft::DAG<Image&>::Builder builder;
//   auto loaded = builder.root().then([](Image& image) { load(image); });
//   auto red = loaded.then([](Image& image) { equalize(image.red); });
//   auto blue = loaded.then([](Image& image) { equalize(image.blue); });
//   builder.node([](Image& image) { save(image); }, {red, blue});
//   auto dag = builder.build();
//   for (Image& image : images) {
//     dag->run(image);
//   }
// T is the type of the functions' argument. DAG<Image&> and DAG<Image> both pass on the object that was given
// to run(). The functions of a DAG<void> have no argument. Runs may overlap, if the functions allow it.
// Requires: a scheduler is bound to the thread that calls run().
template <class T = void>
class DAG {
  using Data = std::conditional_t<std::is_void_v<T>, char, T>;

 public:
  // What makes a DAG of this type, and a node in it while it is built.
  using Builder = DAGBuilder<T>;
  using NodeBuilder = DAGNodeBuilder<T>;

  // Calls every function with `data`, on fibers of the caller's scheduler and on the caller's own. Suspends
  // the fiber, or blocks the thread, until all have returned. Reuses the memory of an earlier run.
  // Errors: after an exception no function begins. The first exception is thrown when all have returned.
  // Lifetime: memory is taken from the builder's allocator and kept for later runs. If `allocator` is neither
  // that nor the default one, memory is taken from `allocator`, and given back before this returns.
  void run(Data& data, Allocator* allocator = Allocator::Default)
    requires(!std::is_void_v<T>)
  {
    graph_->run(addressOf(data), allocator, nullptr);
  }
  void run(Allocator* allocator = Allocator::Default)
    requires std::is_void_v<T>
  {
    graph_->run(nullptr, allocator, nullptr);
  }

  // As run() without a token, but once a stop of `token` is requested, no node begins. Then it returns when
  // those that run have returned, and throws nothing because of the stop.
  // Returns: false if the stop has left nodes out.
  bool run(Data& data, const std::stop_token& token, Allocator* allocator = Allocator::Default)
    requires(!std::is_void_v<T>)
  {
    return graph_->run(addressOf(data), allocator, &token);
  }
  bool run(const std::stop_token& token, Allocator* allocator = Allocator::Default)
    requires std::is_void_v<T>
  {
    return graph_->run(nullptr, allocator, &token);
  }

  // Returns: the graph as text in Graphviz's language: `dot -Tsvg` makes a picture of it. A node without a
  // name has its number, in the order of adding. Neither suspends nor blocks.
  std::string dot() const { return graph_->dot(); }

 private:
  friend class DAGBuilder<T>;
  template <class U>
  friend struct detail::PartlyBuilt;
  explicit DAG(Allocator::unique_ptr<detail::DagGraph> graph) : graph_(std::move(graph)) {}
  static void* addressOf(Data& data) { return const_cast<std::remove_cvref_t<T>*>(std::addressof(data)); }

  Allocator::unique_ptr<detail::DagGraph> graph_;
};

// A node of a DAG that is being built. It is a value that may be copied.
// Lifetime: may be used while its builder exists.
template <class T>
class DAGNodeBuilder {
 public:
  // Adds a node that depends on this one, and returns it.
  template <class F>
  DAGNodeBuilder then(F&& function) const {
    return builder_->node(std::forward<F>(function), {*this});
  }

  // Gives the node a name, for dot() and for the messages of build(). It may have any characters.
  // Returns: this node.
  // Errors: what the allocator throws. Then the node keeps the name that it had.
  // Lifetime: the name is copied.
  const DAGNodeBuilder& setName(std::string_view name) const {
    builder_->unbuilt().setName(index_, name);
    return *this;
  }

 private:
  friend class DAGBuilder<T>;
  DAGNodeBuilder(DAGBuilder<T>* builder, uint32_t index) : builder_(builder), index_(index) {}

  DAGBuilder<T>* builder_;
  uint32_t index_;
};

// Makes a DAG. Used by one thread or fiber at a time.
template <class T>
class DAGBuilder {
 public:
  // The graph takes its memory from `allocator`.
  explicit(false) DAGBuilder(Allocator* allocator = Allocator::Default)
      : graph_(detail::assertAllocator(allocator, "DAGBuilder")->make_unique<detail::DagGraph>(allocator)) {}
  DAGBuilder(const DAGBuilder&) = delete;
  DAGBuilder& operator=(const DAGBuilder&) = delete;

  // Returns: the node with which each run begins. It has no function.
  DAGNodeBuilder<T> root() { return {this, detail::DagGraph::kRoot}; }

  // Adds a node that calls `function` when the nodes `after` have run, and returns it. It needs one before
  // build(), here or by addDependency().
  // Errors: what the allocator or a copy or a move of `function` throws. Then no node was added.
  template <class F>
  DAGNodeBuilder<T> node(F&& function, std::initializer_list<DAGNodeBuilder<T>> after = {}) {
    if constexpr (!Function::template assertNode<std::decay_t<F>>()) {
      return root();
    } else if constexpr (!detail::assertKept<F>()) {
      return root();
    } else {
      return add<&Function::template call<std::decay_t<F>>>(std::forward<F>(function), {}, after,
                                                            "DAGBuilder::node()");
    }
  }

  // Adds a node that chooses: `function` returns which of `among` runs, by its place there. The others are
  // skipped. So is a node all of whose parents were skipped or have chosen another one. A node runs if at
  // least one of its parents leads to it, so that one node can follow all ways. What depends on the choice
  // and is not in `among` runs whatever it chooses.
  // Requires: `among` has a node. The function returns a place in it. Otherwise a message ends the program.
  // Errors: as node().
  template <class F>
  DAGNodeBuilder<T> choice(F&& function, std::initializer_list<DAGNodeBuilder<T>> among,
                           std::initializer_list<DAGNodeBuilder<T>> after = {}) {
    if constexpr (!Function::template assertNode<std::decay_t<F>>()) {
      return root();
    } else if constexpr (!Function::template assertChoice<std::decay_t<F>>()) {
      return root();
    } else if constexpr (!detail::assertKept<F>()) {
      return root();
    } else {
      WEFT_ASSERT(among.size() > 0, "DAGBuilder::choice() was given no nodes to choose from.");
      return add<&Function::template choose<std::decay_t<F>>>(std::forward<F>(function), among, after,
                                                              "DAGBuilder::choice()");
    }
  }

  // Lets `child` run when `parent` has run.
  // Requires: both are nodes of this builder; `child` is not the root.
  void addDependency(DAGNodeBuilder<T> parent, DAGNodeBuilder<T> child) {
    WEFT_ASSERT(
        parent.builder_ == this && child.builder_ == this,
        "DAGBuilder::addDependency() was given a node of another builder. Use nodes of one builder only.");
    unbuilt().addEdge(parent.index_, child.index_);
  }

  // Returns: the DAG. The builder must not be used afterwards, unless the allocator has thrown.
  // Errors: a message ends the program if a node is not reached from the root, or is in a cycle.
  Allocator::unique_ptr<DAG<T>> build() {
    detail::DagGraph& graph = unbuilt();
    // It may throw, so it comes first.
    auto dag = graph.allocator()->template make_unique<DAG<T>>(Allocator::unique_ptr<detail::DagGraph>());
    graph.finish();
    dag->graph_ = std::move(graph_);
    return dag;
  }

  // Returns: what DAG::dot() would return. It also shows what build() would refuse.
  std::string dot() { return unbuilt().dot(); }

 private:
  friend class DAGNodeBuilder<T>;
  using Function = detail::DagFunction<T>;
  using Nodes = std::initializer_list<DAGNodeBuilder<T>>;

  template <auto kCall, class F>
  DAGNodeBuilder<T> add(F&& function, Nodes among, Nodes after, const char* what) {
    detail::DagGraph& graph = unbuilt();
    detail::assertCallable(function, what);
    const DAGNodeBuilder<T> added(
        this, graph.addNode(detail::DagWork::make<kCall>(graph.allocator(), std::forward<F>(function)),
                            among.size() + after.size(), among.size()));
    for (const DAGNodeBuilder<T>& option : among) {
      addDependency(added, option);
    }
    for (const DAGNodeBuilder<T>& parent : after) {
      addDependency(parent, added);
    }
    return added;
  }

  detail::DagGraph& unbuilt() {
    WEFT_ASSERT(graph_ != nullptr, "a DAGBuilder was used after build(). Make another one for another DAG.");
    return *graph_;
  }

  Allocator::unique_ptr<detail::DagGraph> graph_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
