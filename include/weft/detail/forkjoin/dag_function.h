// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/detail/forkjoin/dag_graph.h"

namespace weft::inline v0_1::detail {

// How the nodes of a DAG<T> call their functions, of type F.
template <class T>
struct DagFunction {
  template <class F>
  static constexpr bool assertNode() {
    constexpr bool kCanBeCalled = [] {
      if constexpr (std::is_void_v<T>) {
        return std::is_invocable_v<F&>;
      } else {
        return std::is_invocable_v<F&, std::remove_reference_t<T>&> || std::is_invocable_v<F&, T>;
      }
    }();
    static_assert(kCanBeCalled,
                  "the function of a node of a DAG<T> is called with the T that run() was given, "
                  "or without arguments if T is void: this one cannot be called so.");
    return kCanBeCalled;
  }

  template <class F>
  static constexpr bool assertChoice() {
    constexpr bool kIsNumber = std::is_integral_v<decltype(invoke(std::declval<F&>(), nullptr))>;
    static_assert(kIsNumber,
                  "the function of DAGBuilder::choice(function, among) returns an integer: "
                  "the place in `among` of the node that is to run.");
    return kIsNumber;
  }

  template <class F>
  static decltype(auto) invoke(F& function, void* data) {
    if constexpr (std::is_void_v<T>) {
      return function();
    } else {
      using Data = std::remove_reference_t<T>;
      Data& value = *static_cast<Data*>(data);
      if constexpr (std::is_invocable_v<F&, Data&>) {
        return function(value);
      } else {
        return function(static_cast<T>(value));
      }
    }
  }

  template <class F>
  static void call(F& function, void* data) {
    (void)invoke(function, data);
  }

  template <class F>
  static void choose(F& function, void* choice) {
    auto& answer = *static_cast<detail::DagChoice*>(choice);
    answer.option = static_cast<uint64_t>(invoke(function, answer.data));
  }
};

}  // namespace weft::inline v0_1::detail
