// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/export.h"

namespace weft {

namespace detail {

// A value of the task or thread that uses it, in a list with the newest first.
struct FiberLocalNode {
  FiberLocalNode* next;
  uint64_t key;  // whose value it is; all bits inverted while it is being made
  void (*destroy)(FiberLocalNode*) noexcept;
};

// Returns: the first of the caller's values, which stays where it is: the task's, or the thread's where none
// runs.
WEFT_EXPORT FiberLocalNode*& fiberLocals() noexcept;

// Destroys all values of the list `first`, the newest first, and those that are made meanwhile.
WEFT_EXPORT void destroyFiberLocals(FiberLocalNode*& first) noexcept;

// Returns: a number that no other FiberLocal has had.
WEFT_EXPORT uint64_t newFiberLocalKey() noexcept;

}  // namespace detail

// A value that each task has for itself, as each thread has for its thread_local: fibers share threads, so
// that a thread_local is seen by all tasks of its thread. Code that runs in no task, on a thread that is
// bound or not, has one value for each thread; so has what blocking_call() calls.
//
//   weft::FiberLocal<std::string> request([] { return std::string("none"); });
//   weft::schedule([&] {
//     *request = "GET /";
//     handle();  // may suspend; request.get() is "GET /" still
//   });
//
// The value is made when it is first used, by the initializer or T's default constructor, and destroyed when
// the task, or the thread, ends: the newest first, on the task's own fiber, after its function has returned
// and been destroyed, so that whoever waits for what the function did may be back before. ~Scheduler waits
// for it. Destructors may suspend, and may use other FiberLocals, which are made anew if they are gone; they
// let no exception escape. A task of async() or a TaskGroup that is run in place has values of its own, as
// elsewhere. A function of join() or of a parallel algorithm is either part of the task that calls it, or a
// task of its own: it uses only values that it sets itself.
// Lifetime: values do not need the FiberLocal once they are made: it may be destroyed before the tasks that
// used it end.
template <class T>
class FiberLocal {
 public:
  FiberLocal()
    requires std::default_initializable<T>
      : initializer_([] { return T(); }) {}
  explicit FiberLocal(std::function<T()> initializer) : initializer_(std::move(initializer)) {}
  FiberLocal(const FiberLocal&) = delete;
  FiberLocal& operator=(const FiberLocal&) = delete;

  // Returns: the caller's value. Neither suspends nor blocks, but for the initializer where it does. Takes
  // time in proportion to the number of FiberLocals that the task has begun to use since.
  // Requires: not called by its own initializer; else a message ends the program.
  // Lifetime: the value lives until the task, or the thread, ends.
  T& get() const {
    detail::FiberLocalNode*& first = detail::fiberLocals();
    for (detail::FiberLocalNode* node = first; node != nullptr; node = node->next) {
      if (node->key == key_) [[likely]] {
        return static_cast<Node*>(node)->value;
      }
      WEFT_ASSERT(
          node->key != ~key_,
          "the initializer of a FiberLocal used the value that it is to make. Make it of other things.");
    }
    return make(first);
  }
  T& operator*() const { return get(); }
  T* operator->() const { return std::addressof(get()); }

 private:
  struct Node : detail::FiberLocalNode {
    Node(FiberLocalNode* older, uint64_t owner) noexcept : FiberLocalNode{older, owner, nullptr} {}
    ~Node() {}
    union {
      T value;
    };
  };
  T& make(detail::FiberLocalNode*& first) const {
    auto* node = detail::NodeMemory<Node>::make(first, ~key_);
    first = node;
    // Where the initializer throws. It may have made other values, which lie before this one then.
    bool isMade = false;
    detail::callAndEnd(
        [&] {
          ::new (static_cast<void*>(std::addressof(node->value))) T(initializer_());
          isMade = true;
        },
        [&] {
          if (!isMade) {
            detail::FiberLocalNode** link = &first;
            while (*link != node) {
              link = &(*link)->next;
            }
            *link = node->next;
            detail::NodeMemory<Node>::destroy(*node);
          }
        });
    node->destroy = [](detail::FiberLocalNode* made) noexcept {
      auto* mine = static_cast<Node*>(made);
      mine->value.~T();
      detail::NodeMemory<Node>::destroy(*mine);
    };
    node->key = key_;
    return node->value;
  }

  const uint64_t key_ = detail::newFiberLocalKey();
  const std::function<T()> initializer_;
};

}  // namespace weft
