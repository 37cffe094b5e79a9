// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>

#include "weft/detail/base/node_memory.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

enum class TaskOp : uint8_t {
  Run,      // call the function, destroy it, free the node
  Call,     // call the function only
  Discard,  // destroy the function, free the node
  Ready,    // for a listener of a Future: the Future is ready; see future/state.h
  Free,     // for a Future's state: the last handle has gone
};

// A callable with its type erased. Queues and deques carry such nodes.
struct TaskNode {
  void (*invoke)(TaskNode*, TaskOp);
  TaskNode* next;  // for the list that holds the node
  uint32_t flags;  // Task::Flags, kForked, and above them the number of the task's name
};

// The flags' bits from here on are the number of a name: see setTaskName().
inline constexpr uint32_t kTaskNameShift = 20;

// A flag: the task that has forked the node takes the node back, unless a thief has it.
inline constexpr uint32_t kForked = 1u << 17;

// Names the task of a node, for the flight recorder. Null takes the name away. Requires: it is not queued.
WEFT_EXPORT void setTaskName(TaskNode& node, const char* name) noexcept;

inline bool isForked(const TaskNode& node) { return (node.flags & kForked) != 0; }

// The node of a Task. Captures of up to 40 bytes fit one line of NodeMemory, up to 104 bytes two lines.
template <class F>
struct FunctionNode : TaskNode {
  template <class Arg>
  FunctionNode(Arg&& from, uint32_t taskFlags)
      : TaskNode{&invokeTask, nullptr, taskFlags}, function(std::forward<Arg>(from)) {}

  static void invokeTask(TaskNode* node, TaskOp op) {
    auto& self = static_cast<FunctionNode&>(*node);
    if (op != TaskOp::Discard) {
      self.function();
    }
    if (op != TaskOp::Call) {
      NodeMemory<FunctionNode>::destroy(self);
    }
  }

  F function;
};

}  // namespace weft::inline v0_1::detail
