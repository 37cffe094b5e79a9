// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "weft/detail/base/node_pool.h"
#include "weft/detail/base/throw_or_die.h"

namespace weft::inline v0_1::detail {

// The memory for objects of type T: a pooled node if T fits into one, else what operator new gives.
template <class T>
class NodeMemory {
 public:
  static constexpr NodeSize kNode = alignof(T) <= kLine ? nodeSizeFor(sizeof(T)) : NodeSize::None;

  // A constructor that throws leaves nothing behind.
  template <class... Args>
  static T* make(Args&&... args) {
    NodeMemory memory;
    auto* object = ::new (memory.memory_) T(std::forward<Args>(args)...);
    memory.memory_ = nullptr;
    return object;
  }

  static void destroy(T& object) noexcept {
    if constexpr (std::is_nothrow_destructible_v<T>) {
      object.~T();
    } else {
      detail::callOrDie([](void* self) { static_cast<T*>(self)->~T(); }, &object,
                        "the destructor of what a task keeps");
    }
    free(&object);
  }

 private:
  // At least 16: a TicketNode keeps four flags in the low bits of a node's address.
  static constexpr std::align_val_t kAlignment{alignof(T) < 16 ? 16 : alignof(T)};
  static constexpr bool isPooled() { return kNode != NodeSize::None; }

  NodeMemory() : memory_(isPooled() ? allocateNode(kNode) : ::operator new(sizeof(T), kAlignment)) {}
  ~NodeMemory() {
    if (memory_ != nullptr) {
      freeUnused(memory_);
    }
  }

  static void free(void* memory) noexcept {
    if constexpr (isPooled()) {
      freeNode(memory, kNode);
    } else {
      ::operator delete(memory, kAlignment);
    }
  }

  [[gnu::cold, gnu::noinline]] static void freeUnused(void* memory) noexcept { free(memory); }

  void* memory_;
};

}  // namespace weft::inline v0_1::detail
