// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/detail/base/sync.h"
#include "weft/export.h"
#include "weft/memory.h"

// The untyped part of a DAG.
//
// A node with one predecessor is ready when that has run. A node with several has a counter in each run's
// context: the strand that brings it to zero resets it for the next run, and starts the node. The strand that
// runs a node goes on in a loop with a successor that it made ready, and schedules the others: a chain costs
// no task and no stack. A node without successors counts down the run's WaitGroup. Every node leads to one of
// these.
//
// A node that chooses leads to one of its options, and to those of its successors that are no options. Its
// other options are told that it does not lead to them. A node to which no predecessor leads is skipped: it
// leads nowhere, and a strand passes it on as it does a node that runs. So each counter reaches zero in each
// run, and a node after a choice runs if one way leads to it. A node that a stop leaves out leads nowhere.
// Runs without choices and without a token have strands that know nothing of this.
namespace weft::inline v0_1::detail {

enum class DagOp : uint8_t { Call, Move, Destroy };

// A type-erased function of a node. `operand` is the data to Call it with, or the DagWork to Move it to.
class DagWork {
 public:
  DagWork() noexcept = default;

  // kCall(function, data) calls it.
  template <auto kCall, class F>
  static DagWork make(Allocator* allocator, F&& function) {
    using Function = std::decay_t<F>;
    DagWork work;
    if constexpr (kIsInline<Function>) {
      ::new (static_cast<void*>(work.storage_)) Function(std::forward<F>(function));
    } else {
      ::new (static_cast<void*>(work.storage_))
          Elsewhere<Function>{allocator, allocator->create<Function>(std::forward<F>(function))};
    }
    work.op_ = &operate<Function, kCall>;
    return work;
  }

  DagWork(DagWork&& other) noexcept : op_(std::exchange(other.op_, nullptr)) {
    if (op_ != nullptr) {
      op_(other, DagOp::Move, this);
    }
  }
  DagWork& operator=(DagWork&&) = delete;
  ~DagWork() {
    if (op_ != nullptr) {
      op_(*this, DagOp::Destroy, nullptr);
    }
  }

  void operator()(void* data) {
    if (op_ != nullptr) {
      op_(*this, DagOp::Call, data);
    }
  }

 private:
  static constexpr size_t kInlineBytes = 24;

  template <class F>
  static constexpr bool kIsInline =
      sizeof(F) <= kInlineBytes && alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

  template <class F>
  struct Elsewhere {
    Allocator* allocator;
    F* function;
  };

  template <class F, auto kCall>
  static void operate(DagWork& work, DagOp op, void* operand) {
    using Stored = std::conditional_t<kIsInline<F>, F, Elsewhere<F>>;
    auto& stored = *std::launder(reinterpret_cast<Stored*>(work.storage_));
    if (op == DagOp::Call) {
      if constexpr (kIsInline<F>) {
        kCall(stored, operand);
      } else {
        kCall(*stored.function, operand);
      }
      return;
    }
    if (op == DagOp::Move) {
      ::new (static_cast<void*>(static_cast<DagWork*>(operand)->storage_)) Stored(std::move(stored));
    } else if constexpr (!kIsInline<F>) {
      stored.allocator->destroy(stored.function);
    }
    stored.~Stored();
  }

  void (*op_)(DagWork& work, DagOp op, void* operand) = nullptr;
  alignas(void*) unsigned char storage_[kInlineBytes];
};

// What the function of a node that chooses is called with, and its answer.
struct DagChoice {
  void* data;
  uint64_t option = 0;
};

class WEFT_EXPORT DagGraph {
 public:
  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kMost = ~uint32_t{0} >> 1;  // nodes, and dependencies

  // Makes a graph with a root that does nothing.
  explicit DagGraph(Allocator* allocator);
  ~DagGraph();
  DagGraph(const DagGraph&) = delete;

  // Before finish(). What throws changes nothing. After addNode(), `numEdges` addEdge() do not throw.
  // With options, its work is called with a DagChoice, and its first edges lead to them.
  uint32_t addNode(DagWork&& work, size_t numEdges, size_t numOptions);
  void addEdge(uint32_t before, uint32_t after);
  void setName(uint32_t node, std::string_view name);
  // A message ends the program if a node would never run. If it throws, it may be called again.
  void finish();

  // After finish(), by any number of threads and fibers at once.
  // `token` may be null. Returns: whether no node was left out for a stop.
  bool run(void* data, Allocator* allocator, const std::stop_token* token);

  // At any time. Returns: the graph in Graphviz's language.
  std::string dot() const;

  Allocator* allocator() const { return allocator_; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Node {
    explicit Node(DagWork&& function) : work(std::move(function)) {}
    DagWork work;
    uint32_t firstOut = 0;  // in outs_
    uint32_t numOuts = 0;
    uint32_t numIns = 0;
    uint32_t counter = kNone;  // in a run's context
  };
  struct Edge {
    uint32_t before;
    uint32_t after;
  };
  struct Run;
  template <class T>
  using Vector = std::vector<T, StlAllocator<T>>;
  using Name = std::basic_string<char, std::char_traits<char>, StlAllocator<char>>;

  // Empty: none.
  std::string_view nameOf(uint32_t node) const;
  // Returns: a node's number and name, for a message.
  std::string describe(uint32_t node) const;

  void sortEdges();
  void checkAllRun();
  [[noreturn]] void reportCycle(const Vector<uint32_t>& missing) const;
  Run& beginRun(Allocator* allocator);
  void endRun(Run& run);
  void call(Run& run, DagWork& work, void* data);
  template <class Way>
  Way visit(Run& run, uint32_t index);
  template <class Way>
  bool pass(Run& run, uint32_t out, const Way& way, uint32_t& index);
  template <class Way>
  void strand(Run& run, uint32_t index);
  template <class Way>
  uint32_t arrive(Run& run, uint32_t begin, uint32_t end, Way way);
  bool isReady(Run& run, const Node& node);
  uint32_t numOptionsOf(uint32_t node) const;

  Allocator* const allocator_;
  Vector<Node> nodes_;
  Vector<Edge> edges_;  // until finish()
  Vector<uint32_t> outs_;
  Vector<Name> names_;           // of the nodes from 0 to the last that has one
  Vector<uint32_t> numOptions_;  // of the nodes from 0 to the last that chooses
  uint32_t numLeaves_ = 0;
  uint32_t numCounters_ = 0;
  StdSync::Lock lock_;
  Run* idleRuns_ = nullptr;  // guarded by lock_
  int numRunning_ = 0;       // guarded by lock_
};

}  // namespace weft::inline v0_1::detail
