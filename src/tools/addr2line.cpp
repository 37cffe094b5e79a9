// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/addr2line.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tools/command.h"

extern char** environ;

namespace weft::inline v0_1::detail::tools {
namespace {

// No function is there, so its answer says that the answer before has ended.
constexpr std::string_view kEndMark = "0xffffffffffffffff";

// Takes a place apart, such as "serve.cc:42 (discriminator 3)".
SourceLine parse(const std::string& function, std::string_view place) {
  SourceLine result{function, {}, {}};
  place = place.substr(0, place.find(" (discriminator"));
  const size_t colon = place.rfind(':');
  const std::string_view file = place.substr(0, colon);
  if (colon != place.npos && file != "??") {
    result.file = file;
    const std::string_view line = place.substr(colon + 1);
    result.line = line == "?" || line == "0" ? "" : line;
  }
  return result;
}

pid_t spawn(const std::string& file, int socket) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::string option = "--exe=" + file;
  const char* const arguments[] = {"addr2line", "-aCif", option.c_str(), nullptr};
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  return error == 0 ? child : 0;
}

}  // namespace

Addr2line::Addr2line(const std::string& file) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Failure(std::string("no socket can be made: ") + std::strerror(errno));
  }
  child_ = spawn(file, ends[1]);
  const int error = errno;
  close(ends[1]);
  socket_ = ends[0];
  if (child_ == 0) {
    close(socket_);
    throw Failure(error == ENOENT
                      ? std::string("there is no addr2line, which knows the lines of sources: install "
                                    "binutils (apt-get install -y binutils)")
                      : std::string("addr2line cannot be started: ") + std::strerror(error));
  }
}

Addr2line::~Addr2line() {
  close(socket_);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::vector<SourceLines> Addr2line::ask(std::span<const uint64_t> addresses) {
  // This fits the socket's buffer, so that it is written before the child has to be listened to.
  std::string question;
  for (const uint64_t address : addresses) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%#llx\n", static_cast<unsigned long long>(address));
    question.append(digits).append(kEndMark).append("\n");
  }
  std::vector<SourceLines> answers(addresses.size());
  // Of a child that has ended no signal tells: SIGPIPE is left to the standard output.
  const ssize_t size = send(socket_, question.data(), question.size(), MSG_NOSIGNAL);
  if (size != static_cast<ssize_t>(question.size())) {
    return answers;
  }
  for (SourceLines& answer : answers) {
    std::string function, place;
    if (!readLine(function)) {  // the address
      return answers;
    }
    while (readLine(function) && function != kEndMark && readLine(place)) {
      answer.push_back(parse(function, place));
    }
    if (!readLine(function) || !readLine(place)) {  // of the mark
      return answers;
    }
  }
  return answers;
}

bool Addr2line::readLine(std::string& line) {
  size_t end;
  while ((end = received_.find('\n')) == received_.npos) {
    char buffer[4096];
    const ssize_t size = ::read(socket_, buffer, sizeof buffer);
    if (size == 0 || (size < 0 && errno != EINTR)) {
      return false;
    }
    received_.append(buffer, size > 0 ? static_cast<size_t>(size) : 0);
  }
  line.assign(received_, 0, end);
  received_.erase(0, end + 1);
  return true;
}

}  // namespace weft::inline v0_1::detail::tools
