// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The product of two matrices of 1,024 x 1,024 floats: the result is halved along its longer side down to
// tiles of 64 x 64, with a fork for each half: 255 forks, each with hundreds of microseconds of work.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../common/harness.h"

namespace matmul {

constexpr int kTile = 64;

inline int sizeOf(const bench::Run& run) { return run.size(1024, 128); }

struct Matrices {
  explicit Matrices(int size) : n(size), a(count()), b(count()), c(count()) {
    // Small whole numbers, whose products and sums floats hold exactly.
    for (size_t i = 0; i < count(); i++) {
      a[i] = static_cast<float>((i * 7 + i / 13) % 5) - 2;
      b[i] = static_cast<float>((i * 11 + i / 17) % 7) - 3;
    }
  }
  size_t count() const { return static_cast<size_t>(n) * static_cast<size_t>(n); }

  int n;
  std::vector<float> a, b, c;
};

// Rows [top, bottom) and columns [left, right) of the result.
struct Block {
  int top, bottom, left, right;

  bool isTile() const { return bottom - top <= kTile && right - left <= kTile; }
  bool isTall() const { return bottom - top >= right - left; }
  Block first() const {
    return isTall() ? Block{top, (top + bottom) / 2, left, right}
                    : Block{top, bottom, left, (left + right) / 2};
  }
  Block second() const {
    return isTall() ? Block{(top + bottom) / 2, bottom, left, right}
                    : Block{top, bottom, (left + right) / 2, right};
  }
};

inline Block whole(const Matrices& m) { return {0, m.n, 0, m.n}; }

inline void multiplyTile(Matrices& m, const Block& block) {
  const auto n = static_cast<size_t>(m.n);
  const auto left = static_cast<size_t>(block.left);
  const auto width = static_cast<size_t>(block.right - block.left);
  for (auto i = static_cast<size_t>(block.top); i < static_cast<size_t>(block.bottom); i++) {
    float* c = m.c.data() + i * n + left;
    for (size_t j = 0; j < width; j++) {
      c[j] = 0;
    }
    for (size_t k = 0; k < n; k++) {
      const float a = m.a[i * n + k];
      const float* b = m.b.data() + k * n + left;
      for (size_t j = 0; j < width; j++) {
        c[j] += a * b[j];
      }
    }
  }
}

inline void serially(Matrices& m, const Block& block) {
  if (block.isTile()) {
    multiplyTile(m, block);
    return;
  }
  serially(m, block.first());
  serially(m, block.second());
}

// The oracle: some entries of the result, added up one by one.
inline bool isRight(const Matrices& m) {
  const auto n = static_cast<size_t>(m.n);
  for (size_t i = 0; i < n; i += 31) {
    for (size_t j = i % 29; j < n; j += 29) {
      int64_t sum = 0;
      for (size_t k = 0; k < n; k++) {
        sum += static_cast<int64_t>(m.a[i * n + k]) * static_cast<int64_t>(m.b[k * n + j]);
      }
      if (static_cast<int64_t>(m.c[i * n + j]) != sum) {
        return false;
      }
    }
  }
  return true;
}

// Measures `compute(matrices, block)`.
template <class F>
void measure(bench::Run& run, F&& compute, int repeats = 3) {
  Matrices m(sizeOf(run));
  double ns = run.medianNs([&] { compute(m, whole(m)); }, repeats);
  bench::check(isRight(m), "matmul");
  run.metric("ms", ns / 1e6);
}

}  // namespace matmul
