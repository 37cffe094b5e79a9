// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

extern char** environ;

namespace weft::tests {

// A program that prints a line, and then waits for the end of its input, which comes with the destructor.
class WaitingProgram {
 public:
  explicit WaitingProgram(const std::string& program) {
    int input[2], output[2];
    EXPECT_EQ(pipe2(input, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(output, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
    EXPECT_EQ(posix_spawn(&id_, program.c_str(), &actions, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    close(output[1]);
    input_ = input[1];
    for (char c; ::read(output[0], &c, 1) == 1 && c != '\n';) {
      line_ += c;
    }
    close(output[0]);
  }
  ~WaitingProgram() {
    close(input_);
    EXPECT_EQ(waitpid(id_, nullptr, 0), id_);
  }
  WaitingProgram(const WaitingProgram&) = delete;
  WaitingProgram& operator=(const WaitingProgram&) = delete;

  pid_t id() const { return id_; }
  const std::string& line() const { return line_; }

 private:
  pid_t id_ = 0;
  int input_ = -1;
  std::string line_;
};

}  // namespace weft::tests
