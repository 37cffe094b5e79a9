// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/detail/base/node_pool.h"

namespace weft::detail {

enum class TaskOp : uint8_t {
  Run,      // call the function, destroy it, free the node
  Call,     // call the function only
  Discard,  // destroy the function, free the node
  Ready,    // for a listener of a Future: the Future is ready now; see future_state.h
  Free,     // of a Future's state: the last handle has gone
};

// A callable with its type erased, in one node. Queues and deques carry such nodes. Captures of up to 40
// bytes fit one line, up to 104 bytes two lines. Larger or over-aligned captures live on the heap, behind a
// pointer in the node.
struct TaskNode {
  void (*invoke)(TaskNode*, TaskOp);
  TaskNode* next;  // for the list that holds the node
  uint32_t flags;  // Task::Flags
  NodeSize size;
};

inline constexpr size_t kTaskHeader = 24;
static_assert(sizeof(TaskNode) == kTaskHeader);

template <class F>
inline constexpr NodeSize kTaskNodeSize =
    alignof(F) <= alignof(TaskNode) ? nodeSizeFor(kTaskHeader + sizeof(F)) : NodeSize::None;

template <class F>
F* taskFunction(TaskNode* node) noexcept {
  char* storage = reinterpret_cast<char*>(node) + kTaskHeader;
  if constexpr (kTaskNodeSize<F> != NodeSize::None) {
    return std::launder(reinterpret_cast<F*>(storage));
  } else {
    return *reinterpret_cast<F**>(storage);
  }
}

template <class F>
void destroyTask(TaskNode* node) noexcept {
  F* function = detail::taskFunction<F>(node);
  if constexpr (kTaskNodeSize<F> != NodeSize::None) {
    function->~F();
    detail::freeNode(node, kTaskNodeSize<F>);
  } else {
    delete function;
    freeNode(node, NodeSize::Line);
  }
}

template <class F>
void invokeTask(TaskNode* node, TaskOp op) {
  if (op != TaskOp::Discard) {
    (*detail::taskFunction<F>(node))();
  }
  if (op != TaskOp::Call) {
    detail::destroyTask<F>(node);
  }
}

template <class F, class Arg>
TaskNode* makeTaskNode(Arg&& function, uint32_t flags) {
  constexpr bool isInline = kTaskNodeSize<F> != NodeSize::None;
  constexpr NodeSize size = isInline ? kTaskNodeSize<F> : NodeSize::Line;
  struct FreeUnlessDone {  // a constructor that throws leaves nothing behind
    void* memory;
    ~FreeUnlessDone() {
      if (memory != nullptr) {
        freeNode(memory, size);
      }
    }
  } guard{allocateNode(size)};
  char* storage = static_cast<char*>(guard.memory) + kTaskHeader;
  if constexpr (isInline) {
    ::new (static_cast<void*>(storage)) F(std::forward<Arg>(function));
  } else {
    ::new (static_cast<void*>(storage)) F*(new F(std::forward<Arg>(function)));
  }
  return ::new (std::exchange(guard.memory, nullptr)) TaskNode{&invokeTask<F>, nullptr, flags, size};
}

}  // namespace weft::detail
