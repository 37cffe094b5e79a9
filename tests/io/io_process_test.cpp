// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/blockingcall.h>
#include <weft/finally.h>
#include <weft/select.h>

#include "in_task.h"
#include "io/io_pairs.h"
#include "io/refusal.h"
#include "waiting.h"
#include "with_scheduler.h"

// Programs that are started, talked to by pipes, and waited for.
namespace weft::io_process_test {
namespace {

using namespace std::chrono_literals;

using io::Command;
using io::Exit;
using io::Output;
using io::Process;
using io::Redirect;
using tests::bytesOf;

Command shell(std::string script) { return {.arguments = {"/bin/sh", "-c", std::move(script)}}; }

// Runs until it is killed.
const char* const kEndless = "exec sleep 1000";

io::TimePoint soon() { return io::TimePoint::clock::now() + 2ms; }

// Returns: what comes from a pipe until its end.
std::string allOf(int fd) {
  std::string text;
  std::error_code error;
  for (std::string some = "x"; !some.empty(); text += some) {
    some = tests::readText(fd, error);
  }
  EXPECT_FALSE(error) << error.message();
  return text;
}

// Returns: whether the process `pid` is a child of this one, a zombie included.
bool isChild(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void expectExit(const Exit& exit, int code, int signal) {
  EXPECT_EQ(exit.code, code);
  EXPECT_EQ(exit.signal, signal);
  EXPECT_EQ(exit.isSuccess(), code == 0);
}

void expectWaitEndsBy(std::errc reason, Process& process, const io::Wait& wait) {
  std::error_code error;
  process.wait(error, wait);
  EXPECT_EQ(error, reason);
  EXPECT_THROW(process.wait(wait), std::system_error);
}

void expectThatLimitsEndWaits() {
  Process process = Process::spawn(shell(kEndless));
  for (const io::TimePoint deadline : {io::TimePoint::min(), soon()}) {
    expectWaitEndsBy(std::errc::timed_out, process, {.deadline = deadline});
    EXPECT_GE(io::TimePoint::clock::now(), deadline);
  }
  std::stop_source stop;
  std::thread stopper([&] { stop.request_stop(); });
  expectWaitEndsBy(std::errc::operation_canceled, process, {.stop = stop.get_token()});
  stopper.join();
  EXPECT_FALSE(process.tryWait());
}

void expectThatKillEndsIt() {
  Process process = Process::spawn(shell(kEndless));
  EXPECT_TRUE(process.kill(0));
  EXPECT_TRUE(process.kill());
  expectExit(process.wait(), -1, SIGKILL);
  EXPECT_FALSE(process.kill());
  EXPECT_FALSE(isChild(process.pid()));
}

void expectThatTheDestructorKills() {
  pid_t pid = -1;
  {
    const Process process = Process::spawn(shell(kEndless));
    pid = process.pid();
    EXPECT_TRUE(isChild(pid));
  }
  EXPECT_FALSE(isChild(pid));
}

void expectThatEndsAreTold() {
  for (const int code : {0, 1, 7, 255}) {
    Process process = Process::spawn(shell("exit " + std::to_string(code)));
    expectExit(process.wait(), code, 0);
    expectExit(process.wait({.deadline = io::TimePoint::min()}), code, 0);
    ASSERT_TRUE(process.tryWait());
    expectExit(*process.tryWait(), code, 0);
    EXPECT_FALSE(isChild(process.pid()));
  }
  expectExit(Process::spawn(shell("kill -TERM $$")).wait(), -1, SIGTERM);
}

class ProcessTest : public tests::WithScheduler {
 protected:
  void everywhere(const std::function<void()>& f) { tests::everywhere(scheduler(), f); }
};
INSTANTIATE_TEST_SUITE_P(Workers, ProcessTest, ::testing::Values(0, 1, 4));

TEST_P(ProcessTest, ExitCodesAndSignalsAreTold) { everywhere(expectThatEndsAreTold); }

TEST_P(ProcessTest, ADeadlineAndAStopEndOnlyTheWait) { everywhere(expectThatLimitsEndWaits); }

TEST_P(ProcessTest, KillEndsTheProgramAndNothingAfterIt) { everywhere(expectThatKillEndsIt); }

TEST_P(ProcessTest, TheDestructorKillsAndReaps) { everywhere(expectThatTheDestructorKills); }

TEST_P(ProcessTest, PipesLeadToTheProgramAndBack) {
  everywhere([] {
    Command command = shell("cat; echo error >&2");
    command.in = command.out = command.err = Redirect::pipe();
    Process process = Process::spawn(command);
    EXPECT_FALSE(process.tryWait());
    for (const io::UniqueFd* const end : {&process.input(), &process.output(), &process.errors()}) {
      EXPECT_NE(::fcntl(end->get(), F_GETFL) & O_NONBLOCK, 0);
      EXPECT_NE(::fcntl(end->get(), F_GETFD) & FD_CLOEXEC, 0);
    }
    io::writeAll(process.input().get(), bytesOf("hello"));
    std::error_code error;
    EXPECT_EQ(tests::readText(process.output().get(), error), "hello");
    tests::readText(process.output().get(), error, {.deadline = soon()});
    EXPECT_EQ(error, std::errc::timed_out);
    process.closeInput();
    EXPECT_EQ(allOf(process.errors().get()), "error\n");
    EXPECT_EQ(allOf(process.output().get()), "");
    EXPECT_TRUE(process.wait().isSuccess());
  });
}

TEST_P(ProcessTest, SeveralMayWaitAndAnyMayKill) {
  Process process = Process::spawn(shell(kEndless));
  std::atomic<int> numBegun{0};
  tests::Crew crew(scheduler());
  for (int i = 0; i < 6; ++i) {
    crew.start(tests::kindOf(i), [&] {
      ++numBegun;
      expectExit(process.wait(), -1, SIGTERM);
    });
  }
  tests::awaitThat([&] { return numBegun == 6; });
  EXPECT_TRUE(process.kill(SIGTERM));
}

TEST_P(ProcessTest, CancelAllEndsWaitsAndTheDestructorStillReaps) {
  const WaitGroup done(1);
  std::atomic<pid_t> pid{-1};
  schedule([&, done] {
    {
      Process process = Process::spawn(shell(kEndless));
      pid = process.pid();
      expectWaitEndsBy(std::errc::operation_canceled, process, {});
    }
    EXPECT_FALSE(isChild(pid));
    done.done();
  });
  tests::awaitThat([&] { return pid != -1; });
  io::cancelAll(scheduler());
  done.wait();
}

TEST_P(ProcessTest, WaitOrKillTermsThenKills) {
  everywhere([] {
    const io::Wait none{.deadline = io::TimePoint::min()};
    expectExit(Process::spawn(shell(kEndless)).waitOrKill(24h, none), -1, SIGTERM);
    expectExit(Process::spawn(shell("exit 3")).waitOrKill(0ms, {}), 3, 0);
    Command stubborn = shell(std::string("trap '' TERM; echo; ") + kEndless);
    stubborn.out = Redirect::pipe();
    Process process = Process::spawn(stubborn);
    std::error_code error;
    EXPECT_EQ(tests::readText(process.output().get(), error), "\n");
    expectExit(process.waitOrKill(1ms, none), -1, SIGKILL);
    EXPECT_FALSE(isChild(process.pid()));
  });
}

TEST_P(ProcessTest, RunWritesAndReadsAtOnce) {
  everywhere([] {
    std::string text;
    while (text.size() < 1'000'000) {
      text += std::to_string(text.size()) + "\n";
    }
    const Output output = io::run(shell("tee /dev/stderr; exit 4"), text);
    expectExit(output.exit, 4, 0);
    EXPECT_TRUE(output.out == text) << output.out.size() << " bytes";
    EXPECT_TRUE(output.err == text) << output.err.size() << " bytes";
    EXPECT_TRUE(io::run(shell("exit 0"), text).exit.isSuccess()) << "it does not read";
    EXPECT_EQ(io::run(shell("cat; echo end")).out, "end\n") << "there is nothing to read";
  });
}

TEST_P(ProcessTest, RunKillsWhatItsLimitsEnd) {
  everywhere([] {
    for (const char* const script : {kEndless, "exec yes", "exec >&- 2>&-; exec sleep 1000"}) {
      std::error_code error;
      io::run(shell(script), "x", error, {.deadline = soon()});
      EXPECT_EQ(error, std::errc::timed_out) << script;
    }
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(io::run(shell(kEndless), "", {.stop = stop.get_token()}), std::system_error);
  });
}

std::error_code errorOfSpawn(const Command& command) {
  std::error_code error;
  EXPECT_FALSE(Process::spawn(command, error));
  return error;
}

TEST_P(ProcessTest, ACommandThatMakesNoSenseIsAnError) {
  everywhere([] {
    EXPECT_EQ(errorOfSpawn({.arguments = {}}), std::errc::invalid_argument);
    EXPECT_EQ(errorOfSpawn({.arguments = {std::string("sh\0x", 4)}}), std::errc::invalid_argument);
    EXPECT_EQ(errorOfSpawn({.arguments = {"sh"}, .environment = {{std::string("\0", 1)}}}),
              std::errc::invalid_argument);
    EXPECT_EQ(errorOfSpawn({.arguments = {"sh"}, .in = Redirect::descriptor(-1)}),
              std::errc::bad_file_descriptor);
    EXPECT_EQ(errorOfSpawn({.arguments = {"sh"}, .out = Redirect::descriptor(INT_MAX)}),
              std::errc::bad_file_descriptor);
    std::error_code error;
    io::run({.arguments = {"sh"}, .in = Redirect::null()}, "text", error);
    EXPECT_EQ(error, std::errc::invalid_argument) << "nobody would read the text";
  });
}

// The new process finds out, and tells this one in memory that they share.
TEST_P(ProcessTest, WhatCannotBeStartedIsAnErrorThatNamesIt) {
  everywhere([] {
    EXPECT_EQ(errorOfSpawn({.arguments = {"/bin/sh"}, .workingDirectory = "/no/such/folder"}),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ(errorOfSpawn({.arguments = {"/"}}), std::errc::permission_denied);
    try {
      Process::spawn({.arguments = {"no_such_program", "x"}, .workingDirectory = "/"});
      ADD_FAILURE() << "there is such a program";
    } catch (const std::system_error& thrown) {
      EXPECT_EQ(thrown.code(), std::errc::no_such_file_or_directory);
      EXPECT_NE(std::string(thrown.what()).find("no_such_program in /"), std::string::npos) << thrown.what();
    }
  });
}

TEST_P(ProcessTest, AHundredRunAtOnce) {
  if (!tests::mayHaveDescriptors(600)) {
    GTEST_SKIP() << "the process may not have 600 descriptors";
  }
  constexpr int kCount = 100;
  std::vector<Process> processes;
  for (int i = 0; i < kCount; ++i) {
    Command command = shell("read line; exit $line");
    command.in = Redirect::pipe();
    processes.push_back(Process::spawn(command));
  }
  std::atomic<int> numBegun{0};
  tests::Crew crew(scheduler());
  for (int i = 0; i < kCount; ++i) {
    crew.start(tests::Kind::Task, [&, i] {
      ++numBegun;
      expectExit(processes[static_cast<size_t>(i)].wait(), i, 0);
    });
  }
  tests::awaitThat([&] { return numBegun == kCount; });
  for (int i = kCount; i-- > 0;) {
    io::writeAll(processes[static_cast<size_t>(i)].input().get(), bytesOf(std::to_string(i) + "\n"));
  }
}

TEST(ProcessCommandTest, EnvironmentAndFolderAreThoseOfTheCommand) {
  ::setenv("WEFT_PROCESS_TEST", "inherited", 1);
  Command command = shell("echo \"$WEFT_PROCESS_TEST:$OTHER\"; pwd");
  command.workingDirectory = "/";
  EXPECT_EQ(io::run(command).out, "inherited:\n/\n");
  command.environment = {{"OTHER=own"}};
  EXPECT_EQ(io::run(command).out, ":own\n/\n");
  ::unsetenv("WEFT_PROCESS_TEST");
  EXPECT_EQ(io::run({.arguments = {"cat", "-"}}, "found in PATH").out, "found in PATH");
}

TEST(ProcessCommandTest, AStreamIsNotTakenForTheCallersOfItsNumber) {
  char link[PATH_MAX] = "";
  ASSERT_GT(::readlink("/proc/self/fd/1", link, sizeof link - 1), 0);
  Command command = shell("readlink /proc/$$/fd/2; readlink /proc/$$/fd/0");
  command.in = Redirect::null();
  command.err = Redirect::descriptor(1);
  EXPECT_EQ(io::run(command).out, link + std::string("\n/dev/null\n"));
  tests::Ends ends = tests::makeEnds(tests::PairKind::BlockingPipe);
  command = shell("echo out; echo err >&2");
  command.out = command.err = Redirect::descriptor(ends.writer.get());
  EXPECT_TRUE(Process::spawn(command).wait().isSuccess());
  ends.writer.reset();
  EXPECT_EQ(allOf(ends.reader.get()), "out\nerr\n");
}

TEST(ProcessCommandTest, TheProgramGetsNoOtherDescriptors) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  const io::UniqueFd inheritable(::fcntl(STDIN_FILENO, F_DUPFD, 20));
  ASSERT_TRUE(inheritable);
#endif
  const auto script = "i=3; while [ $i -lt 60 ]; do [ -e /proc/$$/fd/$i ] && echo $i; i=$((i + 1)); done";
  EXPECT_EQ(io::run(shell(script)).out, "");
}

TEST(ProcessCommandTest, TheProgramGetsNoSignalMaskAndNoIgnoredSigpipe) {
  std::thread([] {
    sigset_t signals{};
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    const auto before = ::signal(SIGPIPE, SIG_IGN);
    const Output output =
        io::run(shell("while read name value; do case $name in SigBlk:|SigIgn:) echo $value;; esac; done "
                      "</proc/self/status"));
    ::signal(SIGPIPE, before);
    ASSERT_NE(output.out.find('\n'), std::string::npos);
    EXPECT_EQ(std::stoull(output.out, nullptr, 16), 0U) << "blocked";
    const std::string ignored = output.out.substr(output.out.find('\n') + 1);
    EXPECT_EQ(std::stoull(ignored, nullptr, 16) >> (SIGPIPE - 1) & 1, 0U) << "ignored";
  }).join();
}

TEST(ProcessCommandTest, AGroupGetsTheSignal) {
  Command command = shell("sleep 1000 & echo; wait");
  command.out = Redirect::pipe();
  command.newGroup = true;
  Process process = Process::spawn(command);
  std::error_code error;
  EXPECT_EQ(tests::readText(process.output().get(), error), "\n");
  EXPECT_EQ(::getpgid(process.pid()), process.pid());
  EXPECT_TRUE(process.kill(SIGTERM));
  EXPECT_EQ(allOf(process.output().get()), "") << "both have ended";
  expectExit(process.wait(), -1, SIGTERM);
}

TEST(ProcessOwnerTest, DetachLeavesTheProgramToTheCaller) {
  Process process = Process::spawn(shell("exit 5"));
  const pid_t pid = process.detach();
  EXPECT_FALSE(process);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 5);
  process = Process::spawn(shell("exit 0"));
  process.wait();
  EXPECT_EQ(process.detach(), -1);
}

TEST(ProcessOwnerTest, AMoveHandsTheProgramOnAndEndsTheOneBefore) {
  Process process = Process::spawn(shell(kEndless));
  const pid_t before = process.pid();
  Process other = Process::spawn(shell(kEndless));
  const pid_t pid = other.pid();
  process = std::move(other);
  EXPECT_FALSE(isChild(before));
  EXPECT_TRUE(isChild(pid));
  EXPECT_EQ(process.pid(), pid);
  EXPECT_FALSE(other);
}

// Whoever has waited for all children has taken the end of this one.
TEST(ProcessOwnerTest, AnEndThatSomebodyElseTookIsAnError) {
  Process process = Process::spawn(shell("exit 0"));
  ASSERT_EQ(::waitpid(process.pid(), nullptr, 0), process.pid());
  std::error_code error;
  process.wait(error);
  EXPECT_EQ(error, std::errc::no_child_process);
  EXPECT_FALSE(process.tryWait(error));
  EXPECT_EQ(error, std::errc::no_child_process);
  EXPECT_FALSE(process.kill());
}

int numDescriptors() {
  int count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) {
    ++count;
  }
  ::closedir(folder);
  return count;
}

TEST(ProcessOwnerTest, NoZombieAndNoDescriptorIsLeft) {
  Scheduler scheduler(tests::smallConfig(0));
  const Scheduler::Binding bound(scheduler);
  const auto useAll = [] {
    for (const char* const script : {"exit 0", kEndless}) {
      Command command = shell(script);
      command.in = command.out = command.err = Redirect::pipe();
      Process process = Process::spawn(command);
      std::error_code error;
      process.wait(error, {.deadline = soon()});
      Process::spawn(command);
    }
    std::error_code error;
    io::run({.arguments = {"no_such_program"}}, "", error);
    io::run(shell("cat"), "text");
    io::run(shell(kEndless), "text", error, {.deadline = soon()});
  };
  tests::inTask(useAll);
  const int before = numDescriptors();
  tests::inTask(useAll);
  EXPECT_EQ(numDescriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// A program that ends once its input does. Its end is what a case of a select() waits for.
struct Waiting {
  // Returns: what select() returns: 0 if the program has ended.
  template <class... More>
  size_t select(More&&... more) {
    return weft::select(io::onExit(process, [&](Exit found) { exit = found; }), std::forward<More>(more)...);
  }
  Process process =
      Process::spawn({.arguments = {"/bin/sh", "-c", "read text; exit 3"}, .in = Redirect::pipe()});
  Exit exit;
};

void expectThatASelectSeesTheEnd() {
  Waiting one, other;
  std::atomic<bool> isCalled{false};
  EXPECT_EQ(one.select(otherwise()), 1u);
  EXPECT_EQ(one.select(onTimeout(soon()), io::onExit(other.process)), 1u);
  std::thread closer([&] { other.process.closeInput(); });
  EXPECT_EQ(one.select(io::onExit(other.process, [&] { isCalled = true; }), onTimeout(1h)), 1u);
  closer.join();
  EXPECT_TRUE(isCalled);
  expectExit(other.process.wait(), 3, 0);
  EXPECT_EQ(other.select(onTimeout(1h)), 0u) << "it has ended, and stays so";
  expectExit(other.exit, 3, 0);
  one.process.kill();
  std::vector<AnyCase> cases;
  cases.emplace_back(onTimeout(1h));
  cases.emplace_back(io::onExit(one.process, [&](const Exit& found) { one.exit = found; }));
  EXPECT_EQ(select(cases), 1u);
  expectExit(one.exit, -1, SIGKILL);
  EXPECT_FALSE(isChild(one.process.pid()));
}

TEST_P(ProcessTest, ASelectSeesTheEnd) {
  tests::everywhere(scheduler(), [] { expectThatASelectSeesTheEnd(); });
}

// Several wait for one program: all see its end.
TEST_P(ProcessTest, ManySelectsSeeTheEndOfOneProgram) {
  Waiting one;
  std::atomic<int> numEnded{0};
  tests::Crew crew(scheduler());
  for (int i = 0; i < 9; ++i) {
    crew.start(tests::kindOf(i), [&] {
      weft::select(io::onExit(one.process, [&](Exit exit) { numEnded += exit.code == 3 ? 1 : 0; }),
                   onTimeout(1h));
    });
  }
  one.process.closeInput();
  crew.join();
  EXPECT_EQ(numEnded, 9);
}

TEST_P(ProcessTest, ASelectThrowsWhatIsLostAndWhatIsCanceled) {
  tests::inTask([&] {
    Waiting lost, canceled;
    lost.process.kill();
    EXPECT_EQ(::waitpid(lost.process.pid(), nullptr, 0), lost.process.pid());
    const auto expectError = [](std::errc expected, Waiting& one) {
      try {
        one.select(onTimeout(1h));
        ADD_FAILURE() << "no error";
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), expected);
      }
      expectExit(one.exit, -1, 0);
    };
    expectError(std::errc::no_child_process, lost);
    io::cancelAll(scheduler());
    expectError(std::errc::operation_canceled, canceled);
  });
}

// As before Linux 5.3, and in sandboxes.
TEST(ProcessRefusalTest, WithoutPidfdsAllWorks) {
  for (const uint32_t error : {ENOSYS, EPERM}) {
    std::thread([error] {
      tests::refuse(SYS_pidfd_open, error);
      ASSERT_EQ(::syscall(SYS_pidfd_open, ::getpid(), 0), -1);
      Scheduler scheduler(tests::smallConfig(1));
      const Scheduler::Binding bound(scheduler);
      tests::everywhere(scheduler, [] {
        expectThatEndsAreTold();
        expectThatLimitsEndWaits();
        expectThatKillEndsIt();
        expectThatTheDestructorKills();
        expectThatASelectSeesTheEnd();
        EXPECT_EQ(io::run(shell("cat"), "text").out, "text");
      });
    }).join();
  }
}

TEST(ProcessRefusalTest, WithoutSignalsByPidfdKillStillWorks) {
  std::thread([] {
    tests::refuse(SYS_pidfd_send_signal, ENOSYS);
    expectThatKillEndsIt();
  }).join();
}

using ProcessDeathTest = tests::DeathTest;

TEST_F(ProcessDeathTest, AProcessWithoutAProgramEndsWithAMessage) {
  EXPECT_DEATH(Process().wait(), "io::Process::wait\\(\\) was called of a Process without a program");
  Process none;
  EXPECT_DEATH(select(io::onExit(none)), "io::onExit\\(\\) was called of a Process without a program");
}

}  // namespace
}  // namespace weft::io_process_test
