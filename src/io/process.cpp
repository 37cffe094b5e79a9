// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/process.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "io/child_process.h"
#include "io/io_call.h"
#include "io/result.h"
#include "io/spawn.h"
#include "weft/debug.h"
#include "weft/detail/base/deadline.h"

namespace weft::inline v0_1::io {
namespace {

using detail::ChildProcess;
using detail::orThrow;
using detail::toErrorCode;

std::string nameOfStart(const char* what, const Command& command) {
  const std::string program = command.arguments.empty() ? "no arguments" : command.arguments[0];
  const std::string folder = command.workingDirectory.empty() ? "" : " in " + command.workingDirectory;
  return std::string(what) + ", " + program + folder;
}

std::string nameOfUse(const char* what, pid_t pid) {
  return std::string(what) + ", pid " + std::to_string(pid);
}

bool isEndOfWait(int error) { return error == ETIMEDOUT || error == ECANCELED; }

bool isEndOfWait(const std::error_code& error) {
  return error.category() == std::generic_category() && isEndOfWait(error.value());
}

// Writes to a program and reads from it, whichever it is ready for. One fiber or thread does both, by an
// epoll that has the ends of all pipes.
class Exchange {
 public:
  Exchange(Process& process, std::string_view input, Output& output)
      : process_(process), input_(input), texts_{nullptr, &output.out, &output.err} {}

  // Goes on until all pipes are closed.
  void run(std::error_code& error, const Wait& wait) {
    if (input_.empty()) {
      process_.closeInput();
    }
    error = toErrorCode(open());
    while (!error && numOpen_ != 0) {
      error = toErrorCode(detail::endedBy(wait));
      if (!error) {
        waitFor(epoll_.get(), POLLIN, error, wait);
      }
      epoll_event events[kNumEnds];
      const int count = error ? 0 : ::epoll_wait(epoll_.get(), events, kNumEnds, 0);
      for (int i = 0; i < count && !error; ++i) {
        transfer(events[i].data.u32, error);
      }
    }
  }

 private:
  static constexpr int kNumEnds = 3;
  static constexpr size_t kBufferSize = 65536;  // what a pipe holds

  UniqueFd& end(uint32_t i) {
    return i == 0 ? process_.input() : i == 1 ? process_.output() : process_.errors();
  }

  // Returns: 0, or an error number.
  int open() {
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_) {
      return errno;
    }
    for (uint32_t i = 0; i < kNumEnds; ++i) {
      epoll_event event{static_cast<uint32_t>(i == 0 ? EPOLLOUT : EPOLLIN), {.u32 = i}};
      if (end(i)) {
        if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, end(i).get(), &event) != 0) {
          return errno;
        }
        ++numOpen_;
      }
    }
    return 0;
  }

  // A copy of the descriptor in a child of fork(2) would keep the registration.
  void close(uint32_t i) {
    epoll_event unused{};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, end(i).get(), &unused);
    end(i).reset();
    --numOpen_;
  }

  // What one end is ready for.
  void transfer(uint32_t i, std::error_code& error) {
    const bool isDone = i == 0 ? sendSome(error) : receiveSome(i, error);
    if (isEndOfWait(error)) {
      error.clear();  // there was nothing, after all
    } else if (isDone && !error) {
      close(i);
    }
  }

  // Returns: whether there is nothing more to send.
  bool sendSome(std::error_code& error) {
    const auto bytes = std::as_bytes(std::span(input_));
    input_.remove_prefix(write(process_.input().get(), bytes, error, kNow));
    if (error == std::errc::broken_pipe) {
      error.clear();
      return true;
    }
    return input_.empty();
  }

  // Returns: whether the end has come.
  bool receiveSome(uint32_t i, std::error_code& error) {
    const size_t count = read(end(i).get(), buffer_, error, kNow);
    texts_[i]->append(reinterpret_cast<const char*>(buffer_.data()), count);
    return count == 0;
  }

  const Wait kNow{.deadline = TimePoint::min()};
  Process& process_;
  std::string_view input_;
  std::string* const texts_[kNumEnds];
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kBufferSize);
  UniqueFd epoll_;
  int numOpen_ = 0;
};

Redirect pipeIfInherited(const Redirect& redirect) {
  return redirect.kind == Redirect::Kind::Inherit ? Redirect::pipe() : redirect;
}

}  // namespace

Process::Process() noexcept = default;
Process::Process(Process&& other) noexcept = default;

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    Process before(std::move(*this));
    child_ = std::move(other.child_);
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    errors_ = std::move(other.errors_);
  }
  return *this;
}

Process::~Process() {
  if (child_ != nullptr) {
    child_->end();
  }
}

detail::ChildProcess& Process::child(const char* function) const {
  WEFT_ASSERT(child_ != nullptr,
              "io::%s was called of a Process without a program: it was made by Process(), moved from or "
              "detached, or spawn() has failed.",
              function);
  return *child_;
}

Process Process::spawn(const Command& command, std::error_code& error) {
  Process process;
  auto child = std::make_unique<ChildProcess>(command.newGroup);
  pid_t pid = -1;
  const int result =
      detail::spawnProgram(command, {&process.input_, &process.output_, &process.errors_}, pid);
  error = toErrorCode(result);
  if (result != 0) {
    return {};
  }
  child->begin(pid);
  process.child_ = std::move(child);
  return process;
}

Process Process::spawn(const Command& command) {
  return orThrow([&] { return nameOfStart("io::Process::spawn", command); },
                 [&](auto& error) { return spawn(command, error); });
}

Exit Process::wait(std::error_code& error, const Wait& wait) noexcept {
  ChildProcess& child = this->child("Process::wait()");
  error = toErrorCode(child.await(wait, "io::Process::wait"));
  return error ? Exit() : child.exit();
}

Exit Process::wait(const Wait& wait) {
  return orThrow([&] { return nameOfUse("io::Process::wait", pid()); },
                 [&](auto& error) { return this->wait(error, wait); });
}

std::optional<Exit> Process::tryWait(std::error_code& error) noexcept {
  ChildProcess& child = this->child("Process::tryWait()");
  error.clear();
  if (child.tryReap() == 0) {
    return child.exit();
  }
  error = toErrorCode(errno == EAGAIN ? 0 : errno);
  return {};
}

std::optional<Exit> Process::tryWait() {
  return orThrow([&] { return nameOfUse("io::Process::tryWait", pid()); },
                 [&](auto& error) { return tryWait(error); });
}

Exit Process::waitOrKill(std::chrono::milliseconds grace, std::error_code& error, const Wait& wait) noexcept {
  ChildProcess& child = this->child("Process::waitOrKill()");
  int result = child.await(wait, "io::Process::waitOrKill");
  if (isEndOfWait(result)) {
    child.send(SIGTERM);
    result = child.await({.deadline = detail::deadlineAfter(grace)}, "io::Process::waitOrKill");
  }
  if (isEndOfWait(result)) {
    child.end();
    result = child.tryReap() == 0 ? 0 : errno;
  }
  error = toErrorCode(result);
  return error ? Exit() : child.exit();
}

Exit Process::waitOrKill(std::chrono::milliseconds grace, const Wait& wait) {
  return orThrow([&] { return nameOfUse("io::Process::waitOrKill", pid()); },
                 [&](auto& error) { return waitOrKill(grace, error, wait); });
}

bool Process::kill(int signal, std::error_code& error) noexcept {
  const int result = child("Process::kill()").send(signal);
  error = toErrorCode(result == ESRCH ? 0 : result);
  return result == 0;
}

bool Process::kill(int signal) {
  return orThrow([&] { return nameOfUse("io::Process::kill", pid()); },
                 [&](auto& error) { return kill(signal, error); });
}

pid_t Process::detach() noexcept {
  const pid_t pid = child("Process::detach()").give();
  child_.reset();
  input_.reset();
  output_.reset();
  errors_.reset();
  return pid;
}

pid_t Process::pid() const noexcept { return child("Process::pid()").pid(); }

Output run(const Command& command, std::string_view input, std::error_code& error, const Wait& wait) {
  Command piped = command;
  piped.in = pipeIfInherited(command.in);
  piped.out = pipeIfInherited(command.out);
  piped.err = pipeIfInherited(command.err);
  Output output;
  if (!input.empty() && piped.in.kind != Redirect::Kind::Pipe) {
    error = std::make_error_code(std::errc::invalid_argument);
    return output;
  }
  Process process = Process::spawn(piped, error);
  if (error) {
    return output;
  }
  Exchange(process, input, output).run(error, wait);
  if (!error) {
    output.exit = process.wait(error, wait);
  }
  return output;
}

Output run(const Command& command, std::string_view input, const Wait& wait) {
  return orThrow([&] { return nameOfStart("io::run", command); },
                 [&](auto& error) { return run(command, input, error, wait); });
}

}  // namespace weft::inline v0_1::io
