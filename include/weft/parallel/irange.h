// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "weft/detail/base/throw_or_die.h"

namespace weft::inline v0_1 {

// An iterator over numbers that count up or down in equal steps.
template <std::integral Int>
class NumberIterator {
 public:
  // The types that std::iterator_traits and the concept std::random_access_iterator ask for.
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;  // it yields values, not references
  using value_type = Int;
  using difference_type = std::ptrdiff_t;
  using reference = Int;
  using pointer = void;
  constexpr NumberIterator() = default;
  // Points to the number first + step * index.
  constexpr NumberIterator(Int first, Int step, difference_type index)
      : first_(first), step_(step), index_(index) {}

  // The number, and the number that is `n` steps away.
  constexpr Int operator*() const {
    // Unsigned, since the end of a range may be beyond what Int can hold.
    return static_cast<Int>(Word(first_) + Word(step_) * Word(index_));
  }
  constexpr Int operator[](difference_type n) const { return *(*this + n); }

  // Steps and comparisons, as pointers have them.
  constexpr NumberIterator& operator+=(difference_type n) {
    index_ += n;
    return *this;
  }
  constexpr NumberIterator& operator-=(difference_type n) { return *this += -n; }
  constexpr NumberIterator& operator++() { return *this += 1; }
  constexpr NumberIterator& operator--() { return *this -= 1; }
  constexpr NumberIterator operator++(int) { return std::exchange(*this, *this + 1); }
  constexpr NumberIterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend constexpr NumberIterator operator+(NumberIterator it, difference_type n) { return it += n; }
  friend constexpr NumberIterator operator+(difference_type n, NumberIterator it) { return it += n; }
  friend constexpr NumberIterator operator-(NumberIterator it, difference_type n) { return it -= n; }
  friend constexpr difference_type operator-(const NumberIterator& a, const NumberIterator& b) {
    return a.index_ - b.index_;
  }
  friend constexpr bool operator==(const NumberIterator& a, const NumberIterator& b) {
    return a.index_ == b.index_;
  }
  friend constexpr auto operator<=>(const NumberIterator& a, const NumberIterator& b) {
    return a.index_ <=> b.index_;
  }

 private:
  using Word = uint64_t;

  Int first_{};
  Int step_{1};
  difference_type index_ = 0;
};

// The range that irange() returns. It holds no numbers, but computes them.
template <std::integral Int>
class NumberRange {
 public:
  // The `count` numbers first, first + step, first + 2 * step, and so on.
  constexpr NumberRange(Int first, Int step, std::ptrdiff_t count)
      : first_(first), step_(step), count_(count) {}

  // The functions of a range.
  // Requires: the index is below size().
  constexpr NumberIterator<Int> begin() const { return {first_, step_, 0}; }
  constexpr NumberIterator<Int> end() const { return {first_, step_, count_}; }
  constexpr size_t size() const { return static_cast<size_t>(count_); }
  constexpr bool empty() const { return count_ == 0; }
  constexpr Int operator[](size_t i) const { return begin()[static_cast<std::ptrdiff_t>(i)]; }

 private:
  Int first_;
  Int step_;
  std::ptrdiff_t count_;
};

// Makes a range of integers. It holds no numbers, but computes them.
//
//   for (int i : weft::irange(10, 0, -3)) use(i);  // 10, 7, 4, 1
// Returns: the numbers begin, begin + step, begin + 2 * step, ... before `end`, downwards if `step` is
// negative; none if `end` lies on the other side. They have the common type of `begin` and `end`.
// Errors: std::invalid_argument if `step` is 0, or if a number is negative and the type is unsigned.
template <std::integral Begin, std::integral End, std::integral Step = int>
constexpr auto irange(Begin begin, End end, Step step = 1) {
  using Int = std::common_type_t<Begin, End>;
  using Word = uint64_t;
  if (step == 0) {
    detail::throwOrDie(
        std::invalid_argument("irange() got a step of 0, and would never end. Give another step."));
  }
  const bool isUpwards = step > 0;
  Word count = 0;
  // Promoted by `+`, since std::cmp_less does not compare characters.
  if (isUpwards ? std::cmp_less(+begin, +end) : std::cmp_less(+end, +begin)) {
    const Word distance = isUpwards ? Word(end) - Word(begin) : Word(begin) - Word(end);
    const Word stride = isUpwards ? Word(step) : Word(0) - Word(step);
    count = (distance - 1) / stride + 1;
    const bool isNegative =
        isUpwards ? std::cmp_less(+begin, 0) : std::cmp_less(+end, 0) && (count - 1) * stride > Word(begin);
    if (std::is_unsigned_v<Int> && isNegative) {
      detail::throwOrDie(std::invalid_argument(
          "irange(begin, end), or an algorithm over the numbers from begin to end, has negative numbers, "
          "but begin or end is unsigned, and so the numbers are unsigned. "
          "Convert that one to a signed type, such as std::ptrdiff_t."));
    }
  }
  if (count > Word(std::numeric_limits<std::ptrdiff_t>::max())) {
    detail::throwOrDie(std::invalid_argument(
        "irange() has more numbers than a std::ptrdiff_t can count. Give a larger step."));
  }
  return NumberRange<Int>(static_cast<Int>(begin), static_cast<Int>(step),
                          static_cast<std::ptrdiff_t>(count));
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
