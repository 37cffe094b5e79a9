// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/target.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <thread>

#include "tools/command.h"
#include "waiting_program.h"

namespace target_test {

using weft::detail::tools::Failure;
using weft::detail::tools::Target;
using weft::tests::WaitingProgram;

std::string pathOf(const std::string& name) { return WEFT_TEST_FOLDER "/" + name; }

// Returns: what is said of a target; empty if it can be looked at.
std::string failureOf(const std::string& name) {
  try {
    const Target target(name.c_str());
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

void expectFailure(const std::string& name, std::string_view part) {
  EXPECT_NE(failureOf(name).find(part), std::string::npos) << failureOf(name);
}

#ifdef WEFT_TEST_HANGING
TEST(TargetTest, OpensAProcess) {
  const WaitingProgram program(pathOf("hanging_stripped"));
  Target target(std::to_string(program.id()).c_str());
  EXPECT_EQ(target.processId(), program.id());
  EXPECT_EQ(target.core(), nullptr);
  ASSERT_EQ(target.offsets().size(), 1u);
  const uint64_t schedulers = target.offsets()[0].schedulers;
  uint64_t newest = 0;
  EXPECT_TRUE(target.memory().get(schedulers, newest));
  EXPECT_NE(newest, 0u);
}
#endif

TEST(TargetTest, SaysThatALayoutLacksNamesOrIsDamaged) {
  for (const char* name : {"layout_pie", "layout_broken"}) {
    const WaitingProgram program(pathOf(name));
    expectFailure(std::to_string(program.id()), " uses weft 12.3.4, whose layout this program does not know");
  }
}

TEST(TargetTest, SaysThatAProcessUsesAnotherRelease) {
  const WaitingProgram program(pathOf("layout_newer"));
  expectFailure(std::to_string(program.id()),
                " uses weft 12.3.4, whose layout this program does not know: run");
}

TEST(TargetTest, SaysThatAProcessDoesNotUseWeft) {
  const WaitingProgram program(pathOf("layout_none"));
  expectFailure(std::to_string(program.id()), " does not use weft");
}

TEST(TargetTest, SaysThatThereIsNoProcess) {
  EXPECT_EQ(failureOf("2147483647"), "there is no process 2147483647");
  for (const std::string name : {"abc", "0", "", "123x", "99999999999"}) {
    EXPECT_EQ(failureOf(name),
              '"' + name + "\" is neither the number of a process nor the path of a core file: give one");
  }
  expectFailure("/nowhere/at/all", "/nowhere/at/all cannot be read: No such file or directory");
  expectFailure(pathOf("layout_pie"), " is a program or a library, and no core file");
}

TEST(TargetTest, SaysThatAProcessHasEnded) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(failureOf(std::to_string(child)),
            "process " + std::to_string(child) + " has ended, and its parent has not waited for it");
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(TargetTest, SaysThatTheMainThreadOfAProcessHasEnded) {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] { pause(); }).detach();
    syscall(SYS_exit, 0);  // ends the thread alone, and unwinds nothing
  }
  const std::string id = std::to_string(child);
  constexpr int kMostLooks = 1'000'000;  // until it has come so far
  constexpr std::string_view kMessage =
      " ends just now, or its main thread has ended: nothing of it can be read";
  for (int i = 0; i < kMostLooks && failureOf(id).find(kMessage) == std::string::npos; ++i) {
    std::this_thread::yield();
  }
  expectFailure(id, kMessage);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

// Process 1 belongs to root, and mostly this test does too.
TEST(TargetTest, SaysThatAProcessBelongsToAnotherUser) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) {
      _exit(2);
    }
    _exit(failureOf("1").find(" belongs to another user: run this as that user") != std::string::npos ? 0
                                                                                                      : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) {
    GTEST_SKIP() << "the system does not let root become another user";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace target_test
