// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/debug.h>
#include <weft/mutex.h>
#include <weft/tsa.h>
#include <weft/waitgroup.h>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

namespace {

static_assert(WEFT_DEBUG_ENABLED == 0 || WEFT_DEBUG_ENABLED == 1);

// Returns: what `function` writes to stderr, one string for each write(2).
template <class F>
std::vector<std::string> writesToStderr(F&& function) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  function();
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::vector<std::string> writes;
  char buffer[8192];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    writes.emplace_back(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  return writes;
}

TEST(DebugDeathTest, FatalPrintsItsMessageAndAborts) {
  EXPECT_EXIT(weft::fatal("%d %s", 42, "apples"), testing::KilledBySignal(SIGABRT),
              "^weft: fatal: 42 apples\n$");
}

TEST(DebugDeathTest, FatalMacroNamesThePlace) {
  EXPECT_DEATH(WEFT_FATAL("no arguments"), "^weft: fatal: no arguments\n  at .*debug_test.cpp:[0-9]+\n$");
  EXPECT_DEATH(WEFT_FATAL("%d", 7), "^weft: fatal: 7\n  at .*debug_test.cpp:[0-9]+\n$");
}

[[gnu::noinline]] WEFT_NO_THREAD_SAFETY_ANALYSIS void misuse() {
  weft::mutex mutex;
  mutex.unlock();
  asm volatile("");  // lest the call is the last thing, and leaves no frame
}

TEST(DebugDeathTest, AMessageOfTheLibraryNamesItsCallers) {
  EXPECT_DEATH(misuse(),
               "does not hold it.*\n  called from debug_test\\+0x[0-9a-f]+.*\n  at .*mutex.cpp:[0-9]+\n$");
}

// Its inline functions fail in headers, whose places say no more.
TEST(DebugDeathTest, AMessageOfAHeaderNamesItsCallers) {
  EXPECT_DEATH(weft::WaitGroup().done(),
               "done\\(\\) called too many times.*\n  called from "
               "debug_test\\+0x[0-9a-f]+.*\n  at .*/weft/waitgroup.h:[0-9]+\n$");
}

// The place of the misuse is among those that are named.
TEST(DebugDeathTest, OneOfTheCallersIsTheMisuse) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    misuse();
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&misuse), &info), 0);
  const auto begin =
      static_cast<size_t>(reinterpret_cast<char*>(&misuse) - static_cast<char*>(info.dli_fbase));
  bool isNamed = false;
  for (size_t at = text.find("debug_test+0x"); at != std::string::npos;
       at = text.find("debug_test+0x", at + 1)) {
    const size_t place = std::stoul(text.substr(at + 13), nullptr, 16);
    isNamed = isNamed || (place > begin && place < begin + 2048);  // under a sanitizer it is long
  }
  EXPECT_TRUE(isNamed) << text << std::hex << begin;
}

TEST(DebugDeathTest, AssertIsOnInEveryBuild) {
  const bool condition = false;
  EXPECT_DEATH(WEFT_ASSERT(condition, "count is %d", -1), "weft: fatal: count is -1\n  at .*debug_test.cpp");
  EXPECT_DEATH(WEFT_UNREACHABLE(), "weft: fatal: .*cannot reach");
}

TEST(DebugDeathTest, DcheckIsOnInDebugBuildsOnly) {
  int evaluated = 0;
  auto check = [&] { WEFT_DCHECK(++evaluated == 0, "evaluated %d", evaluated); };
#if WEFT_DEBUG_ENABLED
  EXPECT_DEATH(check(), "weft: fatal: evaluated 1");
#else
  check();
  EXPECT_EQ(evaluated, 0);
#endif
}

TEST(DebugTest, AssertEvaluatesItsConditionOnceAndItsMessageNever) {
  int conditions = 0;
  int messages = 0;
  WEFT_ASSERT(++conditions > 0, "%d", ++messages);
  EXPECT_EQ(conditions, 1);
  EXPECT_EQ(messages, 0);
}

TEST(DebugTest, AssertTakesWhateverConvertsToBool) {
  int value = 0;
  int* pointer = &value;
  WEFT_ASSERT(pointer, "null");
  if (pointer != nullptr) {
    WEFT_ASSERT(true, "an assertion is one statement");
  } else {
    FAIL();
  }
}

constexpr int checkedHalf(int value) {
  WEFT_ASSERT(value % 2 == 0, "%d is odd", value);
  return value / 2;
}
static_assert(checkedHalf(4) == 2, "assertions work in constant expressions");

TEST(DebugTest, AWarningIsOneWriteAndKeepsErrno) {
  errno = ERANGE;
  const auto writes = writesToStderr([] {
    weft::warn("%s", "first");
    WEFT_WARN("second %d", 2);
  });
  EXPECT_EQ(errno, ERANGE);
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[0], "weft: warning: first\n");
  EXPECT_EQ(writes[1], "weft: warning: second 2\n");
}

TEST(DebugTest, ALongMessageIsCutAndSaysSo) {
  const std::string text(10'000, 'x');
  const auto writes = writesToStderr([&] { weft::warn("%s", text.c_str()); });
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_GT(writes[0].size(), 1'500U);
  EXPECT_LE(writes[0].size(), 2'048U);
  EXPECT_TRUE(writes[0].ends_with("xxx...\n"));
}

TEST(DebugDeathTest, ALongFatalMessageStillNamesThePlace) {
  const std::string text(10'000, 'x');
  EXPECT_DEATH(WEFT_FATAL("%s", text.c_str()), "xxx\\.\\.\\.\n  at .*debug_test.cpp:[0-9]+\n$");
}

TEST(DebugTest, AClosedStderrIsNoError) {
  const int saved = dup(STDERR_FILENO);
  close(STDERR_FILENO);
  weft::warn("nobody reads this");
  dup2(saved, STDERR_FILENO);
  close(saved);
}

}  // namespace
