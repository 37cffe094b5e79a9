// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// How a channel moves a T: from a sender's object (or what converts to T) to a receiver's std::optional<T>.
struct ValueType {
  size_t size;
  size_t alignment;
  void (*put)(void* slot, void* from);
  void (*get)(void* to, void* slot);  // destroys the slot's value, also when it throws
  void (*hand)(void* to, void* from);
  void (*destroy)(void* slot);
};

template <class T, class From = T>
struct ValueFunctions {
  static void put(void* slot, void* from) { ::new (slot) T(std::move(*static_cast<From*>(from))); }

  static void get(void* to, void* slot) {
    struct Destroy {
      ~Destroy() { value->~T(); }
      T* value;
    } destroy{std::launder(static_cast<T*>(slot))};
    static_cast<std::optional<T>*>(to)->emplace(std::move(*destroy.value));
  }

  static void hand(void* to, void* from) {
    static_cast<std::optional<T>*>(to)->emplace(std::move(*static_cast<From*>(from)));
  }

  static void destroy(void* slot) { std::launder(static_cast<T*>(slot))->~T(); }
};

template <class T, class From = T>
WEFT_OWN inline constexpr ValueType valueTypeOf = {sizeof(T),
                                                   alignof(T),
                                                   &ValueFunctions<T, From>::put,
                                                   &ValueFunctions<T, From>::get,
                                                   &ValueFunctions<T, From>::hand,
                                                   &ValueFunctions<T, From>::destroy};

// What a waiter gives or wants: Waiter::data points to it, in the waiter's frame.
struct Transfer {
  void* value = nullptr;            // a sender's object, a receiver's std::optional<T>
  const ValueType* type = nullptr;  // a sender's: how to move its object
  EscapedException error;           // of the move of a sender's value by another
};

// How a call, or another's wait (Waiter::mark), ended.
enum class ChannelEnd : uint8_t {
  Done,
  Closed,
  WouldWait,  // nothing was changed
  Retry,      // a move to the waiter threw at the sender: begin anew
};

}  // namespace weft::inline v0_1::detail
