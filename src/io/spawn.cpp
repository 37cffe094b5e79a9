// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "io/io_call.h"
#include "os/c_library.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr int kNumStreams = 3;

// A list of texts for the system, with a null at its end.
class Texts {
 public:
  explicit Texts(const std::vector<std::string>& texts) {
    pointers_.reserve(texts.size() + 1);
    for (const std::string& text : texts) {
      pointers_.push_back(const_cast<char*>(text.c_str()));
    }
    pointers_.push_back(nullptr);
  }

  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<char*> pointers_;
};

bool hasZeroByte(const std::string& text) { return text.find('\0') != std::string::npos; }

bool haveZeroBytes(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(), hasZeroByte);
}

bool isValid(const io::Command& command) {
  return !command.arguments.empty() && !haveZeroBytes(command.arguments) &&
         !hasZeroByte(command.workingDirectory) &&
         !(command.environment && haveZeroBytes(*command.environment));
}

// The program's end of a stream. Close-on-exec, so that no other program gets it.
struct TheirEnd {
  // Returns: 0, or an error number. `ours` becomes the other end of a pipe.
  int open(const io::Redirect& redirect, bool isInput, io::UniqueFd& ours) {
    switch (redirect.kind) {
      case io::Redirect::Kind::Descriptor:
        return setNumber(redirect.fd);
      case io::Redirect::Kind::Pipe:
        return openPipe(isInput, ours);
      default:
        return 0;
    }
  }

  int openPipe(bool isInput, io::UniqueFd& ours) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      return errno;
    }
    owned.reset(ends[isInput ? 0 : 1]);
    ours.reset(ends[isInput ? 1 : 0]);
    return ::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0 ? errno : setNumber(owned.get());
  }

  // The streams are set one after the other: one that is set must not be the source of the next.
  int setNumber(int fd) {
    number = fd;
    if (number >= kNumStreams) {
      return 0;
    }
    io::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, kNumStreams));
    if (!copy) {
      return errno;
    }
    number = copy.get();
    owned = std::move(copy);
    return 0;
  }

  io::UniqueFd owned;
  int number = -1;
};

// What the new process does before it becomes the program. Each function returns 0 or an error number.
class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  int set(int stream, const io::Redirect& redirect, int source) {
    switch (redirect.kind) {
      case io::Redirect::Kind::Inherit:
        return 0;
      case io::Redirect::Kind::Null:
        return ::posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null",
                                                  stream == 0 ? O_RDONLY : O_WRONLY, 0);
      default:
        return ::posix_spawn_file_actions_adddup2(&actions_, source, stream);
    }
  }
  int setFolder(const std::string& folder) {
    return folder.empty() ? 0 : addChangeFolder(actions_, folder.c_str());
  }
  int closeOthers() { return addCloseFrom(actions_, kNumStreams); }

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class SpawnAttributes {
 public:
  explicit SpawnAttributes(bool isNewGroup) {
    sigset_t signals{};
    ::posix_spawnattr_init(&attributes_);
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    const int flags =
        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (isNewGroup ? POSIX_SPAWN_SETPGROUP : 0);
    ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

int spawnProgram(const io::Command& command, std::array<io::UniqueFd*, 3> ours, pid_t& pid) {
  if (!isValid(command)) {
    return EINVAL;
  }
  const io::Redirect* const redirects[kNumStreams] = {&command.in, &command.out, &command.err};
  TheirEnd theirs[kNumStreams];
  SpawnActions actions;
  int error = 0;
  for (int i = 0; i < kNumStreams && error == 0; ++i) {
    const auto index = static_cast<size_t>(i);
    error = theirs[i].open(*redirects[i], i == 0, *ours[index]);
    error = error != 0 ? error : actions.set(i, *redirects[i], theirs[i].number);
  }
  error = error != 0 ? error : actions.setFolder(command.workingDirectory);
  error = error != 0 ? error : actions.closeOthers();
  if (error != 0) {
    return error;
  }
  const Texts arguments(command.arguments);
  const std::vector<std::string> none;
  const Texts variables(command.environment ? *command.environment : none);
  const SpawnAttributes attributes(command.newGroup);
  int result = 0;
  const auto spawn = [&] {
    result = ::posix_spawnp(&pid, command.arguments[0].c_str(), actions.get(), attributes.get(),
                            arguments.data(), command.environment ? variables.data() : environ);
  };
  if (mayBlockThread()) {
    spawn();
  } else {
    error = onBlockingThread(spawn);
  }
  return error != 0 ? error : result;
}

}  // namespace weft::inline v0_1::detail
