// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

namespace weft::inline v0_1::detail::inspect {

enum class SliceKind : uint8_t { Task, InPlace, Scope, Wait, Ready, Step };
inline constexpr size_t kNumSliceKinds = 6;

// The slices that are open on the tracks of many fibers. Each track has a stack of them, and they
// lie in one array.
class OpenSlices {
  static constexpr uint32_t kNothing = ~uint32_t{0};

 public:
  class Stack {
   public:
    bool isEmpty() const { return top_ == kNothing; }
    bool has(SliceKind kind) const { return counts_[static_cast<size_t>(kind)] != 0; }

   private:
    friend class OpenSlices;

    uint32_t top_ = kNothing;
    uint32_t counts_[kNumSliceKinds] = {};
  };

  explicit OpenSlices(std::pmr::memory_resource* memory) : slices_(memory) {}

  void push(Stack& stack, SliceKind kind) {
    uint32_t place = free_;
    if (place != kNothing) {
      free_ = slices_[place].below;
    } else {
      place = static_cast<uint32_t>(slices_.size());
      slices_.emplace_back();
    }
    slices_[place] = {kind, stack.top_};
    stack.top_ = place;
    ++stack.counts_[static_cast<size_t>(kind)];
  }
  // Requires, both: the stack is not empty.
  SliceKind top(const Stack& stack) const { return slices_[stack.top_].kind; }
  SliceKind pop(Stack& stack) {
    const uint32_t place = stack.top_;
    const SliceKind kind = slices_[place].kind;
    stack.top_ = slices_[place].below;
    slices_[place].below = free_;
    free_ = place;
    --stack.counts_[static_cast<size_t>(kind)];
    return kind;
  }

 private:
  struct Slice {
    SliceKind kind;
    uint32_t below;
  };

  std::pmr::vector<Slice> slices_;
  uint32_t free_ = kNothing;
};

}  // namespace weft::inline v0_1::detail::inspect
