// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

namespace detail {

// A value of a task or thread, in a list with the newest value first.
struct FiberLocalNode {
  FiberLocalNode* next;
  uint64_t key;  // whose value it is; all bits inverted while it is being made
  void (*destroy)(FiberLocalNode*) noexcept;
};

// Returns: a reference to the head of the list of the calling task, or of the thread if no task runs.
WEFT_EXPORT FiberLocalNode*& fiberLocals() noexcept;

// Destroys all values of the list `first`, newest first, also values that are made meanwhile.
WEFT_EXPORT void destroyFiberLocals(FiberLocalNode*& first) noexcept;

// Returns: a number that no other FiberLocal has had.
WEFT_EXPORT uint64_t newFiberLocalKey() noexcept;

}  // namespace detail

// A value that each task has for itself, as each thread has its thread_locals, which all tasks of a thread
// share. Code outside of tasks has one value for each thread, and so has what blocking_call() calls.
//
//   weft::FiberLocal<std::string> request([] { return std::string("none"); });
//   weft::schedule([&] {
//     *request = "GET /";
//     handle();  // may suspend; request.get() is "GET /" still
//   });
// The value is made when it is first used, by the initializer or by T's default constructor. It is destroyed
// when the task or the thread ends, newest first. A task's values are destroyed on its own fiber, after its
// function was destroyed: a thread that waits for the function may go on before. ~Scheduler waits for them.
//
// Destructors may suspend and use other FiberLocals, which are made anew if gone. They must not throw.
//
// A task of async() or a TaskGroup has its own values, even if it is run in place. A function of join() or of
// a parallel algorithm may be a task of its own or not: it must only use values that it sets.
// Lifetime: the FiberLocal may be destroyed before the tasks that used it end.
template <class T>
class FiberLocal {
 public:
  // Makes a FiberLocal whose values are made by T's default constructor.
  FiberLocal()
    requires std::default_initializable<T>
      : initializer_([] { return T(); }) {}
  template <class U = T>
  FiberLocal() {
    static_assert(detail::kAlwaysFalse<U>,
                  "weft::FiberLocal<T>: T has no default constructor, so say how the value is made. Write "
                  "weft::FiberLocal<T> local([] { return T(...); }).");
  }
  // Makes a FiberLocal whose values are made by `initializer`.
  explicit FiberLocal(std::function<T()> initializer) : initializer_(std::move(initializer)) {
    detail::assertCallable(initializer_, "FiberLocal()");
  }
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, FiberLocal> &&
             !(std::copy_constructible<std::decay_t<F>> && std::convertible_to<F, std::function<T()>>))
  explicit FiberLocal(F&&) {
    static_assert(detail::kAlwaysFalse<F>,
                  "weft::FiberLocal<T>(f): f can be copied, is called without arguments, and returns a T. "
                  "Write weft::FiberLocal<T> local([] { return T(...); }).");
  }
  FiberLocal(const FiberLocal&) = delete;
  FiberLocal& operator=(const FiberLocal&) = delete;

  // Returns: the caller's value. Neither suspends nor blocks, unless the initializer does. Takes time in
  // proportion to the number of FiberLocals that the task began to use since.
  // Requires: the caller is not the initializer of this value; otherwise a message ends the program.
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
  // As get().
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
    // The initializer has thrown. Values that it made lie before this one.
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

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
