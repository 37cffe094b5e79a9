// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What marl's definitions from outside change.
#undef WEFT_TRACE_ENABLED
#define MARL_TRACE_ENABLED 1
#define MARL_USE_PTHREAD_THREAD_LOCAL 1
#define MARL_WARN_DEPRECATED 1
#define MARL_DLL 1
#define MARL_DEBUG_ENABLED 1

#include <marl/debug.h>
#include <marl/deprecated.h>
#include <marl/export.h>
#include <marl/thread_local.h>
#include <marl/trace.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "temporary_folder.h"
#include "texts.h"

#define TEXT_(...) #__VA_ARGS__
#define TEXT(...) TEXT_(__VA_ARGS__)

namespace {

TEST(MarlOptionsDeathTest, TracesAreWritten) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  static_assert(MARL_TRACE_ENABLED == 1 && marl::Trace::MaxEventNameLength == 64);
  const weft::tests::SharedTemporaryFolder folder;
  const std::string path = folder.path() + "/trace.json";
  EXPECT_EXIT(
      {
        setenv("WEFT_TRACE_FILE", path.c_str(), 1);
        {
          MARL_NAME_THREAD("thread %d", 1);
          MARL_SCOPED_EVENT("scoped %d", 2);
          MARL_SCOPED_ASYNC_EVENT(3, "async");
          MARL_BEGIN_ASYNC_EVENT(4, "by hand");
          MARL_END_ASYNC_EVENT(4, "by hand");
        }
        marl::Trace::get()->beginEvent("last");
        marl::Trace::get()->endEvent();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  const std::string trace = weft::tests::contentsOf(path);
  for (const char* const part :
       {"{\"name\":\"thread 1 (", "\"name\":\"scoped 2\"", "\"id\":\"0x3\",\"name\":\"async\"",
        "\"id\":\"0x4\",\"name\":\"by hand\"", "\"name\":\"last\""}) {
    EXPECT_TRUE(weft::tests::has(trace, part)) << part << " in " << trace;
  }
  size_t numEvents = 0;
  for (const char* const phase : {"\"ph\":\"X\"", "\"ph\":\"b\"", "\"ph\":\"e\""}) {
    numEvents += weft::tests::count(trace, phase);
  }
  EXPECT_EQ(numEvents, 6U);
}

struct Current {
  MARL_DECLARE_THREAD_LOCAL(int*, value);
};
int initial = 1;
MARL_INSTANTIATE_THREAD_LOCAL(int*, Current::value, &initial);

TEST(MarlOptionsTest, ThreadLocalsMayBeKeysOfPosixThreads) {
  EXPECT_EQ(*Current::value, 1);
  std::thread([] {
    int other = 2;
    EXPECT_EQ(Current::value, nullptr);
    Current::value = &other;
    EXPECT_EQ(*Current::value, 2);
  }).join();
  EXPECT_EQ(*Current::value, 1);
}

TEST(MarlOptionsTest, MacrosFollowTheirDefinitions) {
  EXPECT_EQ(std::string_view(TEXT(MARL_DEPRECATED(139, "use another"))),
            "[[deprecated(\"marl issue #\" \"139\" \": \" \"use another\")]]");
  EXPECT_EQ(std::string_view(TEXT(MARL_EXPORT)), "__attribute__((visibility(\"default\")))");
  EXPECT_EQ(std::string_view(TEXT(MARL_NO_EXPORT)), "__attribute__((visibility(\"hidden\")))");
  EXPECT_DEATH(MARL_ASSERT(false, "number %d", 5), "number 5");
}

}  // namespace
