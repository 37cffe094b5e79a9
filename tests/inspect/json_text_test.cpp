// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/json_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

std::string jsonText(std::string_view text) {
  weft::detail::inspect::JsonPieces pieces(text);
  std::string out;
  for (std::string_view piece; !(piece = pieces.next()).empty();) {
    out += piece;
  }
  return out;
}

TEST(JsonTextTest, KeepsValidUtf8) {
  for (const char* text :
       {"", "plain", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(jsonText(text), text);
  }
}

TEST(JsonTextTest, EscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(jsonText("say \"a\\b\"\n"), "say \\\"a\\\\b\\\"\\u000a");
  EXPECT_EQ(jsonText(std::string_view("\0\x1f\x7f", 3)), "\\u0000\\u001f\x7f");
}

TEST(JsonTextTest, ReplacesWhatIsNoUtf8) {
  for (const char* byte : {"\x80", "\xc0", "\xc3", "\xff"}) {
    EXPECT_EQ(jsonText(std::string("a") + byte + "b"), "a\\ufffdb");
  }
  EXPECT_EQ(jsonText("\xc0\xaf"), "\\ufffd\\ufffd") << "overlong";
  EXPECT_EQ(jsonText("\xe0\x80\xaf"), "\\ufffd\\ufffd\\ufffd") << "overlong";
  EXPECT_EQ(jsonText("\xf0\x80\x80\xaf"), "\\ufffd\\ufffd\\ufffd\\ufffd") << "overlong";
  EXPECT_EQ(jsonText("\xed\xa0\x80"), "\\ufffd\\ufffd\\ufffd") << "surrogate";
  EXPECT_EQ(jsonText("\xf4\x90\x80\x80"), "\\ufffd\\ufffd\\ufffd\\ufffd") << "beyond the last character";
}

TEST(JsonTextTest, ReplacesACharacterThatTheEndCutsOff) {
  EXPECT_EQ(jsonText("a\xe2\x82"), "a\\ufffd\\ufffd");
  EXPECT_EQ(jsonText("\xf0\x9f\x98"), "\\ufffd\\ufffd\\ufffd");
  EXPECT_EQ(jsonText(std::string_view("\xe2\x82\xac", 2)), "\\ufffd\\ufffd")
      << "the text ends, not its memory";
}

}  // namespace
