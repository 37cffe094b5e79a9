// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The example http_server.

#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "../common/placement.h"
#include "problem.h"

extern char** environ;

namespace {

// A folder with the files `small` and `large`, which goes with it.
class Files {
 public:
  Files() {
    bench::check(mkdtemp(folder_.data()) != nullptr, "mkdtemp");
    std::ofstream(folder_ + "/small") << std::string(1'000, 's');
    std::ofstream(folder_ + "/large") << std::string(300'000, 'l');
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_ = "/tmp/weft-http-XXXXXX";
};

void run(bench::Run& r) {
  const Files files;
  int output[2];
  bench::check(pipe(output) == 0, "pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, output[0]);
  std::string program = WEFT_HTTP_SERVER, folder = files.folder();
  char port[] = "0";
  char* arguments[] = {program.data(), folder.data(), port, nullptr};
  pid_t server = 0;
  {
    const bench::Placement onOneProcessor(getpid());  // so that the server has one worker
    bench::check(posix_spawn(&server, program.c_str(), &actions, nullptr, arguments, environ) == 0, "spawn");
  }
  posix_spawn_file_actions_destroy(&actions);
  close(output[1]);
  std::FILE* said = fdopen(output[0], "r");
  int number = 0;
  bench::check(std::fscanf(said, "listening on 127.0.0.1:%d", &number) == 1, "the server says its port");
  http::measure(r, number, server);
  kill(server, SIGTERM);
  int status = 0;
  bench::check(waitpid(server, &status, 0) == server && status == 0, "the server ends in order");
  std::fclose(said);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "http", "weft", {{"small-64", {1}, run}, {"large-16", {1}, run}});
}
