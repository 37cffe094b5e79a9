// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "weft/containers/list.h"
#include "weft/containers/vector.h"
#include "weft/memory.h"

// Containers that take their memory from an Allocator.
//
//   weft::containers::vector<std::string, 8> names(allocator);  // up to 8 without an allocation
//   weft::containers::map<std::string, int> places(allocator);
namespace weft::inline v0_1::containers {

// The containers of the standard library, with an Allocator. Those that weft makes itself are
// vector<T, kBaseCapacity> and list<T>, in headers of their own.
template <class T>
using deque = std::deque<T, StlAllocator<T>>;
template <class Key, class Value, class Compare = std::less<Key>>
using map = std::map<Key, Value, Compare, StlAllocator<std::pair<const Key, Value>>>;
template <class Key, class Compare = std::less<Key>>
using set = std::set<Key, Compare, StlAllocator<Key>>;
template <class Key, class Value, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
using unordered_map = std::unordered_map<Key, Value, Hash, Equal, StlAllocator<std::pair<const Key, Value>>>;
template <class Key, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
using unordered_set = std::unordered_set<Key, Hash, Equal, StlAllocator<Key>>;

// Takes the first element out of `queue`.
// Requires: it is not empty.
template <class T>
[[nodiscard]] T take(deque<T>& queue) {
  T out = std::move(queue.front());
  queue.pop_front();
  return out;
}

// Takes any element out of `elements`.
// Requires: it is not empty.
template <class T, class Hash, class Equal>
[[nodiscard]] T take(unordered_set<T, Hash, Equal>& elements) {
  return std::move(elements.extract(elements.begin()).value());
}

}  // namespace weft::inline v0_1::containers

#include "weft/detail/base/macros_end.h"
