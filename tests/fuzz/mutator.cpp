// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);

namespace {

constexpr ptrdiff_t kHeader = 1, kOp = 4;  // bytes: program.h

// Inserts, moves, copies and takes out whole operations.
void mutate(std::vector<uint8_t>& input, std::minstd_rand& random) {
  const auto numOps = (static_cast<ptrdiff_t>(input.size()) - kHeader) / kOp;
  const auto any = [&] {
    return input.begin() + kHeader + kOp * (static_cast<ptrdiff_t>(random() >> 8) % numOps);
  };
  std::vector<uint8_t> op(kOp);
  std::generate(op.begin(), op.end(), [&] { return static_cast<uint8_t>(random() >> 8); });
  switch (numOps == 0 ? 0 : random() % 6) {
    case 0:
    case 1:
      input.insert(numOps == 0 ? input.end() : any(), op.begin(), op.end());
      break;
    case 2: {
      const auto from = any();
      input.erase(from, from + kOp);
      break;
    }
    case 3: {
      const auto from = any();
      std::copy_n(from, kOp, op.begin());
      input.insert(any(), op.begin(), op.end());
      break;
    }
    case 4: {
      const auto from = any();
      std::swap_ranges(from, from + kOp, any());
      break;
    }
    default:
      LLVMFuzzerMutate(&*any(), kOp, kOp);
  }
}

}  // namespace

// In place of libFuzzer's own mutations, most of which would shift the operations by some bytes.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed + 1);
  std::vector<uint8_t> input(data, data + size);
  input.resize(size == 0 ? kHeader : kHeader + (size - kHeader) / kOp * kOp);
  if (random() % 16 == 0) {
    input[0] = static_cast<uint8_t>(random() >> 8);
  }
  do {
    mutate(input, random);
  } while (random() % 4 != 0);
  const size_t newSize = std::min(input.size(), maxSize);
  std::memcpy(data, input.data(), newSize);
  return newSize;
}
