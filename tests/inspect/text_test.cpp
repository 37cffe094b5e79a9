// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

using weft::detail::inspect::Text;

struct Pieces {
  static void write(void* self, const char* text, size_t size) {
    static_cast<Pieces*>(self)->all.emplace_back(text, size);
  }
  std::string joined() const {
    std::string text;
    for (const std::string& piece : all) {
      text += piece;
    }
    return text;
  }
  std::vector<std::string> all;
};

TEST(TextTest, WritesNumbers) {
  Pieces pieces;
  {
    Text text(Pieces::write, &pieces);
    for (const uint64_t value : {uint64_t{0}, uint64_t{999}, uint64_t{1000}, uint64_t{1234567},
                                 std::numeric_limits<uint64_t>::max()}) {
      text.decimal(value) << ' ';
      text.grouped(value) << ' ';
      text.hex(value) << '\n';
    }
  }
  EXPECT_EQ(pieces.joined(),
            "0 0 0x0\n"
            "999 999 0x3e7\n"
            "1000 1,000 0x3e8\n"
            "1234567 1,234,567 0x12d687\n"
            "18446744073709551615 18,446,744,073,709,551,615 0xffffffffffffffff\n");
}

TEST(TextTest, HandsOnWholeLinesOnceItsBufferIsFull) {
  Pieces pieces;
  std::string expected;
  {
    Text text(Pieces::write, &pieces);
    text << "some";
    EXPECT_TRUE(pieces.all.empty());
    text.flush();
    text.flush();
    EXPECT_EQ(pieces.all, std::vector<std::string>{"some"});
    expected = "some";
    for (int i = 0; i < 1000; ++i) {
      text << "a line of text" << '\n';
      expected += "a line of text\n";
    }
    EXPECT_LT(pieces.all.size(), 30u);
  }
  for (const std::string& piece : std::span(pieces.all).subspan(1)) {
    EXPECT_TRUE(piece.ends_with("line of text\n")) << piece;
  }
  EXPECT_EQ(pieces.joined(), expected);
}

TEST(TextTest, WritesWhatIsLongerThanItsBuffer) {
  Pieces pieces;
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    expected += static_cast<char>('a' + i % 26);
  }
  {
    Text(Pieces::write, &pieces) << '<' << expected << '>';
  }
  EXPECT_EQ(pieces.joined(), '<' + expected + '>');
}

}  // namespace
