// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/environment.h"

#include <gtest/gtest.h>

#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "../children.h"
#include "../temporary_folder.h"

namespace weft {
namespace {

using detail::environmentVariable;

constexpr const char* kVariable = "WEFT_OF_THIS_TEST";

class EnvironmentTest : public testing::Test {
 protected:
  ~EnvironmentTest() override { unsetenv(kVariable); }
};

TEST_F(EnvironmentTest, AnEmptyVariableCountsAsUnset) {
  EXPECT_EQ(environmentVariable(kVariable), nullptr);
  setenv(kVariable, "", 1);
  EXPECT_EQ(environmentVariable(kVariable), nullptr);
  setenv(kVariable, "some", 1);
  EXPECT_STREQ(environmentVariable(kVariable), "some");
}

// Run by the next test, in a program that has another user's rights.
TEST_F(EnvironmentTest, DISABLED_IsNotReadWithAnotherUsersRights) {
  constexpr int kSeen = 1;
  constexpr int kHasNoOtherRights = 2;
  if (getauxval(AT_SECURE) == 0) {
    _exit(kHasNoOtherRights);
  }
  _exit(std::getenv(kVariable) != nullptr && environmentVariable(kVariable) == nullptr ? 0 : kSeen);
}

TEST_F(EnvironmentTest, IsNotReadWithMoreRightsThanTheCallersOwn) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only the administrator may make a program of another user's";
  }
  constexpr uid_t kNobody = 65534;
  const tests::TemporaryFolder folder;
  const std::string program = folder.path() + "/program";
  std::filesystem::copy_file("/proc/self/exe", program);
  ASSERT_EQ(chown(program.c_str(), kNobody, static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(chmod(program.c_str(), S_ISUID | S_IRWXU | S_IXGRP | S_IXOTH), 0);
  setenv(kVariable, "some", 1);
  const pid_t child = fork();
  if (child == 0) {
    tests::endWithTheTest();
    execl(program.c_str(), program.c_str(), "--gtest_also_run_disabled_tests",
          "--gtest_filter=EnvironmentTest.DISABLED_IsNotReadWithAnotherUsersRights", nullptr);
    _exit(99);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == 2) {
    GTEST_SKIP() << "the system does not heed the set-user-ID bit in " << folder.path();
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace weft
