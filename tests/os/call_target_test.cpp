// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/call_target.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <vector>

// Machine code of all processors, as their assemblers write it.

namespace weft::inline v0_1::detail::processor {
namespace {

constexpr uint64_t kAddress = 0x40000000;

// Returns: how far the called function is from the call; none: it is no call.
std::optional<int64_t> distanceOf(unsigned machine, std::initializer_list<unsigned char> code) {
  const std::vector<unsigned char> bytes(code);  // of its own size, for AddressSanitizer
  const auto target = callTarget(machine, bytes.data(), bytes.size(), kAddress);
  return target ? std::optional(static_cast<int64_t>(*target - kAddress)) : std::nullopt;
}

TEST(CallTargetTest, CallsOfX8664LeadFromTheNextInstruction) {
  EXPECT_EQ(distanceOf(EM_X86_64, {0xe8, 0xfb, 0x0f, 0, 0}), 0x1000);
  EXPECT_EQ(distanceOf(EM_X86_64, {0xe8, 0xfb, 0xef, 0xff, 0xff}), -0x1000);
  EXPECT_EQ(distanceOf(EM_X86_64, {0xe9, 0xfb, 0x0f, 0, 0}), std::nullopt);  // jmp
  EXPECT_EQ(distanceOf(EM_X86_64, {0xe8, 0xfb, 0x0f, 0}), std::nullopt);
}

TEST(CallTargetTest, CallsOfAarch64LeadFromThemselves) {
  EXPECT_EQ(distanceOf(EM_AARCH64, {0, 0x04, 0, 0x94}), 0x1000);
  EXPECT_EQ(distanceOf(EM_AARCH64, {0, 0xfc, 0xff, 0x97}), -0x1000);
  EXPECT_EQ(distanceOf(EM_AARCH64, {0xff, 0xff, 0xff, 0x95}), 0x7fffffc);
  EXPECT_EQ(distanceOf(EM_AARCH64, {0x02, 0, 0, 0x14}), std::nullopt);  // b
  EXPECT_EQ(distanceOf(EM_AARCH64, {0, 0x04, 0}), std::nullopt);
}

TEST(CallTargetTest, CallsOfPowerpc64leLeadFromThemselves) {
  EXPECT_EQ(distanceOf(EM_PPC64, {0x01, 0x10, 0, 0x48}), 0x1000);
  EXPECT_EQ(distanceOf(EM_PPC64, {0x01, 0xf0, 0xff, 0x4b}), -0x1000);
  EXPECT_EQ(distanceOf(EM_PPC64, {0xfd, 0xff, 0xff, 0x49}), 0x1fffffc);
  EXPECT_EQ(distanceOf(EM_PPC64, {0x08, 0, 0, 0x48}), std::nullopt);  // b
  EXPECT_EQ(distanceOf(EM_PPC64, {0x01, 0x10, 0}), std::nullopt);
}

TEST(CallTargetTest, NearCallsOfRiscv64AreOneInstruction) {
  EXPECT_EQ(distanceOf(EM_RISCV, {0xef, 0x10, 0, 0}), 0x1000);
  EXPECT_EQ(distanceOf(EM_RISCV, {0xef, 0xb0, 0xfa, 0x4d}), 0xabcde);
  EXPECT_EQ(distanceOf(EM_RISCV, {0xef, 0xb0, 0xfa, 0xcd}), -0x54322);
  EXPECT_EQ(distanceOf(EM_RISCV, {0xef, 0, 0x10, 0}), 0x800);
  EXPECT_EQ(distanceOf(EM_RISCV, {0x6f, 0, 0x80, 0}), std::nullopt);  // with no return address
  EXPECT_EQ(distanceOf(EM_RISCV, {0xef, 0x10, 0}), std::nullopt);
}

TEST(CallTargetTest, FarCallsOfRiscv64AreTwoInstructions) {
  EXPECT_EQ(distanceOf(EM_RISCV, {0x97, 0x50, 0x34, 0x12, 0xe7, 0x80, 0xc0, 0xff}), 0x12344ffc);
  EXPECT_EQ(distanceOf(EM_RISCV, {0x97, 0xf0, 0xff, 0xff, 0xe7, 0x80, 0x80, 0}), -0xff8);
  EXPECT_EQ(distanceOf(EM_RISCV, {0x17, 0x13, 0, 0, 0x67, 0, 0x03, 0}),
            std::nullopt);  // with no return address
  EXPECT_EQ(distanceOf(EM_RISCV, {0x17, 0x13, 0, 0, 0xe7, 0x80, 0x03, 0}), std::nullopt);  // of two registers
  EXPECT_EQ(distanceOf(EM_RISCV, {0x97, 0xf0, 0xff, 0xff, 0xe7, 0x80, 0x80}), std::nullopt);
}

TEST(CallTargetTest, CallsOfS390xCountHalfwords) {
  EXPECT_EQ(distanceOf(EM_S390, {0xc0, 0xe5, 0, 0, 0x08, 0}), 0x1000);
  EXPECT_EQ(distanceOf(EM_S390, {0xc0, 0xe5, 0xff, 0xff, 0xf8, 0}), -0x1000);
  EXPECT_EQ(distanceOf(EM_S390, {0xc0, 0x05, 0, 0, 0x08, 0}), std::nullopt);  // with another register
  EXPECT_EQ(distanceOf(EM_S390, {0xc0, 0xe5, 0, 0, 0x08}), std::nullopt);
}

TEST(CallTargetTest, OfAnUnknownProcessorNothingIsACall) {
  EXPECT_EQ(distanceOf(EM_NONE, {0xe8, 0, 0, 0, 0, 0, 0, 0}), std::nullopt);
}

// The tool looks at the begins of instructions alone.
TEST(CallTargetTest, InstructionsBeginWhereTheProcessorLetsThem) {
  EXPECT_EQ(alignmentOfCode(EM_X86_64), 1u);
  EXPECT_EQ(alignmentOfCode(EM_AARCH64), 4u);
  EXPECT_EQ(alignmentOfCode(EM_PPC64), 4u);
  EXPECT_EQ(alignmentOfCode(EM_RISCV), 2u);
  EXPECT_EQ(alignmentOfCode(EM_S390), 2u);
}

}  // namespace
}  // namespace weft::inline v0_1::detail::processor
