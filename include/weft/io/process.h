// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "weft/export.h"
#include "weft/io/descriptor.h"

namespace weft::inline v0_1::detail {
class ChildProcess;
class ExitCase;
}  // namespace weft::inline v0_1::detail

namespace weft::inline v0_1::io {

// What a program gets as its standard input, output or error stream.
//
//   const weft::io::Command quiet{.arguments = {"make"}, .out = weft::io::Redirect::null()};
struct Redirect {
  // Which of the four it is.
  enum class Kind : uint8_t { Inherit, Null, Pipe, Descriptor };

  // Return: inherit(): that of the caller; null(): /dev/null; pipe(): a pipe, whose other end the Process
  // has; descriptor(): a copy of the caller's descriptor `number`, which stays open here.
  static constexpr Redirect inherit() noexcept { return {}; }
  static constexpr Redirect null() noexcept { return {Kind::Null, -1}; }
  static constexpr Redirect pipe() noexcept { return {Kind::Pipe, -1}; }
  static constexpr Redirect descriptor(int number) noexcept { return {Kind::Descriptor, number}; }

  Kind kind = Kind::Inherit;  // which of the four it is
  int fd = -1;                // of Kind::Descriptor
};

// A program, and how to start it. The program gets no descriptors but 0 to 2, an empty signal mask, and the
// default action for SIGPIPE.
//
//   const weft::io::Command sort{.arguments = {"sort", "-n"}, .environment = {{"LC_ALL=C"}}};
struct Command {
  std::vector<std::string> arguments;  // the program first, looked up in the caller's PATH if it has no slash
  std::optional<std::vector<std::string>> environment{};  // as "NAME=value"; nothing: that of the caller
  std::string workingDirectory{};                         // empty: that of the caller
  Redirect in{}, out{}, err{};
  bool newGroup = false;  // a process group of its own, to whose members kill() sends its signal
};

// How a program ended.
struct Exit {
  int code = -1;   // what it returned, or gave to exit(3); -1 if a signal ended it
  int signal = 0;  // the signal that ended it; 0 if none did

  // Returns: whether it returned 0.
  bool isSuccess() const noexcept { return code == 0; }
};

// A program that was started. Several fibers and threads may use it, except for what moves or destroys it.
//
//   weft::io::Process cat = weft::io::Process::spawn(
//       {.arguments = {"cat"}, .in = weft::io::Redirect::pipe(), .out = weft::io::Redirect::pipe()});
//   weft::io::writeAll(cat.input().get(), std::as_bytes(std::span(text)));
//   cat.closeInput();
//   const size_t count = weft::io::readAll(cat.output().get(), buffer);
//   const bool isGood = cat.wait().isSuccess();
// Nobody else may wait for the program, for example by wait(2), and SIGCHLD must not be ignored: otherwise
// waits give std::errc::no_child_process, since it is lost how it ended.
class Process {
 public:
  // Has no program, or takes that of `other`.
  WEFT_EXPORT Process() noexcept;
  WEFT_EXPORT Process(Process&& other) noexcept;
  WEFT_EXPORT Process& operator=(Process&& other) noexcept;
  // Kills the program by SIGKILL if it still runs, and waits for its end, so that nothing is left of it.
  // Suspends the fiber, or blocks the thread. A program that the caller may not kill is waited for.
  WEFT_EXPORT ~Process();

  // Starts a program. Blocks the thread until the system has loaded the program; a fiber is suspended, and a
  // thread of blocking_call() is blocked.
  // Errors: no_such_file_or_directory where the program or the working directory is missing; invalid_argument
  // without arguments, and for a text with a zero byte; those of posix_spawn(3) and pipe(2).
  WEFT_EXPORT static Process spawn(const Command& command);
  WEFT_EXPORT static Process spawn(const Command& command, std::error_code& error);

  // Return: the ends of the pipes to the program, and from it. They do not block, and are owned here until
  // they are moved away. They own nothing where there is no pipe.
  UniqueFd& input() noexcept { return input_; }
  UniqueFd& output() noexcept { return output_; }
  UniqueFd& errors() noexcept { return errors_; }
  // Closes input(): the program sees the end of its input.
  void closeInput() noexcept { input_.reset(); }

  // Suspends the fiber, or blocks the thread, until the program has ended. The deadline and the stop end the
  // wait only. Later calls return what the first did.
  // Returns: how it ended.
  WEFT_EXPORT Exit wait(const Wait& wait = {});
  WEFT_EXPORT Exit wait(std::error_code& error, const Wait& wait = {}) noexcept;
  // Looks whether the program has ended. Neither suspends nor blocks.
  // Returns: how it ended; nothing while it runs.
  WEFT_EXPORT std::optional<Exit> tryWait();
  WEFT_EXPORT std::optional<Exit> tryWait(std::error_code& error) noexcept;

  // As wait(), but where the deadline, the stop or cancelAll() ends the wait, ends the program: by SIGTERM,
  // and if it then runs on for `grace`, by SIGKILL. Waits for its end in any case.
  // Returns: how it ended; Exit::signal tells whether it was killed.
  WEFT_EXPORT Exit waitOrKill(std::chrono::milliseconds grace, const Wait& wait);
  WEFT_EXPORT Exit waitOrKill(std::chrono::milliseconds grace, std::error_code& error,
                              const Wait& wait) noexcept;

  // Sends a signal to the program, or to its group if Command::newGroup was set. Never meets another process
  // that has got its number. Neither suspends nor blocks.
  // Returns: whether there was a program to send it to; false once it has ended.
  // Errors: those of kill(2).
  WEFT_EXPORT bool kill(int signal = SIGKILL);
  WEFT_EXPORT bool kill(int signal, std::error_code& error) noexcept;

  // Leaves the program alone: nobody kills it, and the caller must wait for it by waitpid(2). Closes the
  // pipes.
  // Returns: its process number; -1 if its end was waited for.
  WEFT_EXPORT pid_t detach() noexcept;

  // Return: the number of the process, and whether there is a program, which may have ended.
  WEFT_EXPORT pid_t pid() const noexcept;
  explicit operator bool() const noexcept { return child_ != nullptr; }

 private:
  friend class detail::ExitCase;
  detail::ChildProcess& child(const char* function) const;

  std::unique_ptr<detail::ChildProcess> child_;
  UniqueFd input_, output_, errors_;
};

// What run() gives.
struct Output {
  Exit exit{};               // how the program ended
  std::string out{}, err{};  // what the program has written
};

// Runs a program to its end: writes `input` to it, and reads all that it writes, at the same time. Streams of
// `command` that are Redirect::inherit() become pipes. A program that does not read its input is no error.
//
//   const weft::io::Output sorted = weft::io::run({.arguments = {"sort"}}, "pear\nfig\n");
// Suspends the fiber, or blocks the thread, until the program has ended and nobody has its streams any more.
// After an error, a deadline or a stop, the program is killed: set Command::newGroup if it starts others.
// Returns: how it ended, and what it wrote; where `error` is set, what was read until then.
WEFT_EXPORT Output run(const Command& command, std::string_view input = {}, const Wait& wait = {});
WEFT_EXPORT Output run(const Command& command, std::string_view input, std::error_code& error,
                       const Wait& wait = {});

}  // namespace weft::inline v0_1::io

#include "weft/detail/base/macros_end.h"
