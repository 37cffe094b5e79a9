// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the trace macros are when nobody has switched them on.
#undef WEFT_TRACE_ENABLED
#include <weft/trace.h>

#include <gtest/gtest.h>

#include <string_view>

#define WEFT_TEXT_(...) #__VA_ARGS__
#define WEFT_TEXT(...) WEFT_TEXT_(__VA_ARGS__)

namespace {

TEST(TraceOffTest, TheMacrosAreNothing) {
  static_assert(WEFT_TRACE_ENABLED == 0);
  EXPECT_EQ(std::string_view(WEFT_TEXT(WEFT_SCOPED_EVENT("%d", next()))), "");
  EXPECT_EQ(std::string_view(WEFT_TEXT(WEFT_BEGIN_ASYNC_EVENT(next(), "a"))), "");
  EXPECT_EQ(std::string_view(WEFT_TEXT(WEFT_END_ASYNC_EVENT(next(), "a"))), "");
  EXPECT_EQ(std::string_view(WEFT_TEXT(WEFT_SCOPED_ASYNC_EVENT(next(), "a"))), "");
  EXPECT_EQ(std::string_view(WEFT_TEXT(WEFT_NAME_THREAD("a"))), "");
}

}  // namespace
