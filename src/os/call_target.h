// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>

// What each processor's calls of a fixed function look like. `machine` is the number that ELF files have for
// the processor. The code may be that of another processor than this one.
namespace weft::inline v0_1::detail::processor {

// Returns: instructions begin at multiples of so many bytes.
constexpr size_t alignmentOfCode(unsigned machine) {
  switch (machine) {
    case EM_AARCH64:
    case EM_PPC64:
      return 4;
    case EM_RISCV:
    case EM_S390:
      return 2;
    default:
      return 1;
  }
}

// Returns: the number of so many bytes, the lowest part first.
constexpr uint64_t littleEndian(const unsigned char* bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) {
    value = value << 8 | bytes[i];
  }
  return value;
}

// Returns: the number in the lowest `bits`, the highest of which is its sign.
constexpr uint64_t signedBits(uint64_t value, unsigned bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return ((value & (2 * sign - 1)) ^ sign) - sign;
}

// jal, or auipc and jalr with one register. They call if they leave the return address in ra.
constexpr std::optional<uint64_t> riscvCallTarget(const unsigned char* code, size_t size, uint64_t address) {
  const uint64_t first = size < 4 ? 0 : littleEndian(code, 4);
  if ((first & 0xfff) == 0x0ef) {
    const uint64_t distance =
        (first >> 11 & 0x100000) | (first & 0xff000) | (first >> 9 & 0x800) | (first >> 20 & 0x7fe);
    return address + signedBits(distance, 21);
  }
  const uint64_t second = size < 8 ? 0 : littleEndian(code + 4, 4);
  if ((first & 0x7f) == 0x17 && (second & 0x7fff) == 0x00e7 && (second >> 15 & 0x1f) == (first >> 7 & 0x1f)) {
    return address + signedBits(first & 0xfffff000, 32) + signedBits(second >> 20, 12);
  }
  return {};
}

// Returns: the function that the instruction at the address calls, or none if it is no such call, or if the
// `size` bytes of `code` do not have all of it.
constexpr std::optional<uint64_t> callTarget(unsigned machine, const unsigned char* code, size_t size,
                                             uint64_t address) {
  const uint64_t word = size < 4 ? 0 : littleEndian(code, 4);
  switch (machine) {
    case EM_X86_64:  // call
      if (size < 5 || code[0] != 0xe8) {
        return {};
      }
      return address + 5 + signedBits(littleEndian(code + 1, 4), 32);
    case EM_AARCH64:  // bl
      if ((word & 0xfc000000) != 0x94000000) {
        return {};
      }
      return address + signedBits(word << 2, 28);
    case EM_PPC64:  // bl
      if ((word & 0xfc000003) != 0x48000001) {
        return {};
      }
      return address + signedBits(word & 0x3fffffc, 26);
    case EM_RISCV:
      return riscvCallTarget(code, size, address);
    case EM_S390: {  // brasl with r14, the highest part first
      if (size < 6 || code[0] != 0xc0 || code[1] != 0xe5) {
        return {};
      }
      const unsigned char distance[] = {code[5], code[4], code[3], code[2]};
      return address + 2 * signedBits(littleEndian(distance, 4), 32);
    }
    default:
      return {};
  }
}

}  // namespace weft::inline v0_1::detail::processor
