// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <limits>
#include <string>

#include "inspect/text.h"

// How text is put together without malloc.

using weft::detail::inspect::Text;

namespace {

struct Written {
  std::string text;
  int numWrites = 0;

  static void append(void* self, const char* text, size_t size) {
    static_cast<Written*>(self)->text.append(text, size);
    ++static_cast<Written*>(self)->numWrites;
  }
};

template <class F>
std::string textOf(F write) {
  Written written;
  {
    Text out(&Written::append, &written);
    write(out);
  }
  return written.text;
}

TEST(InspectTextTest, NumbersAreWrittenPlainGroupedAndHexadecimal) {
  EXPECT_EQ(textOf([](Text& out) { out.decimal(0) << ' ' << "a" << std::string_view("b"); }), "0 ab");
  EXPECT_EQ(textOf([](Text& out) { out.decimal(99812); }), "99812");
  EXPECT_EQ(textOf([](Text& out) { out.grouped(0) << ' '; }), "0 ");
  EXPECT_EQ(textOf([](Text& out) { out.grouped(999); }), "999");
  EXPECT_EQ(textOf([](Text& out) { out.grouped(1000); }), "1,000");
  EXPECT_EQ(textOf([](Text& out) { out.grouped(99812); }), "99,812");
  EXPECT_EQ(textOf([](Text& out) { out.hex(0); }), "0x0");
  EXPECT_EQ(textOf([](Text& out) { out.hex(0x7f40); }), "0x7f40");
}

TEST(InspectTextTest, TheLargestNumbersFit) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(textOf([](Text& out) { out.decimal(kMost); }), "18446744073709551615");
  EXPECT_EQ(textOf([](Text& out) { out.grouped(kMost); }), "18,446,744,073,709,551,615");
  EXPECT_EQ(textOf([](Text& out) { out.hex(kMost); }), "0xffffffffffffffff");
}

TEST(InspectTextTest, LongTextComesInPiecesAndWhole) {
  const std::string half(700, 'x');
  Written written;
  Text out(&Written::append, &written);
  out << half;
  EXPECT_EQ(written.numWrites, 0);
  out << half;
  EXPECT_EQ(written.numWrites, 1);
  out.flush();
  out.flush();
  EXPECT_EQ(written.numWrites, 2);
  EXPECT_EQ(written.text, half + half);
}

}  // namespace
