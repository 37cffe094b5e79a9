// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The product of two matrices of n x n whole numbers, by quarters down to 32 x 32: matmul <n, a power of two>
// [threads]

#include <vector>

#include "common.h"

// The ranking has a header of its own for the smallest blocks.
#if __has_include("matmul.hpp")
#include "matmul.hpp"
#else
static void matmul_small(int* a, int* b, int* c, int n, int width) {
  for (int row = 0; row < n; row++, a += width, c += width) {
    const int* factors = b;
    for (int i = 0; i < n; i++, factors += width) {
      const int factor = a[i];
      for (int column = 0; column < n; column++) {
        c[column] += factor * factors[column];
      }
    }
  }
}
#endif

// Adds the product of the blocks `a` and `b` of n x n to the block `c`, within matrices that have `width`
// columns. Two products go to each quarter of `c`, hence one after the other.
static void multiply(int* a, int* b, int* c, int n, int width) {
  if (n <= 32) {
    matmul_small(a, b, c, n, width);
    return;
  }
  const int half = n / 2;
  const int below = half * width;
  ranking::fork([=] { multiply(a, b, c, half, width); },                  //
                [=] { multiply(a, b + half, c + half, half, width); },    //
                [=] { multiply(a + below, b, c + below, half, width); },  //
                [=] { multiply(a + below, b + half, c + below + half, half, width); });
  ranking::fork([=] { multiply(a + half, b + below, c, half, width); },
                [=] { multiply(a + half, b + below + half, c + half, half, width); },
                [=] { multiply(a + below + half, b + below, c + below, half, width); },
                [=] { multiply(a + below + half, b + below + half, c + below + half, half, width); });
}

static std::vector<int> product(ranking::Runtime& runtime, int n) {
  const size_t size = static_cast<size_t>(n) * static_cast<size_t>(n);
  std::vector<int> a(size, 1), b(size, 1), c(size, 0);
  runtime.run([&] { multiply(a.data(), b.data(), c.data(), n, n); });
  return c;
}

int main(int argc, char** argv) {
  const size_t n = ranking::argument(argc, argv, 1, 0);
  if (n == 0 || n > 16384 || (n & (n - 1)) != 0) {
    std::fprintf(stderr, "usage: %s <n, a power of two> [threads]\n", argv[0]);
    return 2;
  }
  ranking::Runtime runtime(ranking::threadsOf(argc, argv, 2));
  product(runtime, static_cast<int>(n));  // warms up
  std::vector<int> result;
  const size_t us = ranking::microsecondsOf([&] { result = product(runtime, static_cast<int>(n)); });
  for (const int value : result) {
    ranking::check("matmul", static_cast<size_t>(value), n);
  }
  ranking::report(us, "matrix_size", n);
}
