// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/folded_stacks.h"
#include "tools/output.h"
#include "tools/profiler.h"
#include "tools/target.h"

namespace weft::inline v0_1::detail::tools {
namespace {

constexpr char kProfileHelp[] =
    "Samples what the tasks of a process do, and writes where they computed and where they waited, as "
    "folded\n"
    "stacks: a line for each stack, with the microseconds that were spent there. Programs that draw flame\n"
    "graphs read it, such as https://www.speedscope.app, inferno and flamegraph.pl.\n"
    "\n"
    "  --seconds N    for so long; 10 if left out\n"
    "  --rate N       so many samples a second; 10 if left out\n"
    "  -o PATH        the file; without it, the standard output\n"
    "  --binary PATH  the program or a library, with the symbols that the one which runs was stripped of.\n"
    "                 May be given several times.\n"
    "\n"
    "A stack begins with what was done: \"computes\"; \"blocks its thread\", a task in a call of the system\n"
    "that keeps the thread from other fibers; \"waits\", as a fiber does; \"ready\", woken or due, but not\n"
    "gone on with yet; \"outside of tasks, in a call\", code of a bound thread such as main() and what\n"
    "blocking_call() calls. Then come the task and the calls. Time of fibers adds up: ten that wait for a\n"
    "second are ten seconds. A sample looks at all workers, and at some fibers, chosen at random.\n"
    "\"...\" stands for outer calls that could not be found, \"???\" for code of no file. A function that\n"
    "calls itself is told once.\n"
    "\n"
    "PID is a process that runs. It is not stopped: a timer of the kernel's tells what computes, by\n"
    "perf_event_open(). Where that is refused, code that computes has a task, and no calls. Ctrl-C ends the\n"
    "samples early, and so does an end of the process, or an exec().\n";

using Seconds = Profiler::Seconds;

constexpr uint64_t kFewSamples = 20;

struct ProfileArguments {
  double seconds = 10;
  double rate = 10;
  std::string path;  // empty: the standard output
  std::vector<std::string> binaries;
  const char* process = nullptr;
};

ProfileArguments parseProfile(Arguments arguments) {
  ProfileArguments result;
  Options options(arguments);
  while (options.next()) {
    if (options.is("--seconds")) {
      result.seconds = options.number(0.01, 1e6);
    } else if (options.is("--rate")) {
      result.rate = options.number(0.01, 1000);
    } else if (options.is("-o")) {
      result.path = options.value();
    } else if (options.is("--binary")) {
      result.binaries.emplace_back(options.value());
    } else {
      options.failUnknown("profile");
    }
  }
  result.process = options.only("profile", "the number of a process");
  return result;
}

void write(const std::string& path, const std::string& text) {
  if (path.empty()) {
    return writeOutput(text);
  }
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    failToWrite(path, errno, "profile");
  }
}

// On stderr, for the standard output may be the file.
// `processor`: what the samples took of it.
void tell(const Target& target, const Profiler& profiler, Seconds processor) {
  const auto seconds = [&](FoldedStacks::State state) { return profiler.stacks().total(state).count(); };
  std::fprintf(stderr,
               "%s: %llu samples in %.1f s: computed %.3g s, blocked threads %.3g s, was ready %.3g s, "
               "waited %.3g s. Looking took %.2g %% of a processor.\n",
               target.name().c_str(), static_cast<unsigned long long>(profiler.numSamples()),
               profiler.duration().count(), seconds(FoldedStacks::State::Computes),
               seconds(FoldedStacks::State::InCall), seconds(FoldedStacks::State::Ready),
               seconds(FoldedStacks::State::Waits), 100 * processor.count() / profiler.duration().count());
  if (profiler.hasEnded()) {
    std::fprintf(stderr, "It has ended meanwhile.\n");
  }
  if (profiler.hasBegunAnother()) {
    std::fprintf(stderr, "It has begun another program meanwhile: these samples are of the one before.\n");
  }
  if (profiler.numSamples() < kFewSamples) {
    std::fprintf(stderr, "So few samples say little: take more with --rate or --seconds.\n");
  }
  if (profiler.error() != 0) {
    std::fprintf(
        stderr,
        "Code that computes has no calls, as perf_event_open() is refused (%s): run this as root, or "
        "set kernel.perf_event_paranoid to 2 or less. In a container, allow that call.\n",
        std::strerror(profiler.error()));
  }
}

int profile(Arguments arguments) {
  const ProfileArguments wanted = parseProfile(arguments);
  Target target(wanted.process, wanted.binaries);
  if (target.core() != nullptr) {
    throw Failure(target.name() +
                  " is a core file, and profile needs a process that runs: `weft ps` tells what it holds");
  }
  if (target.isStopped()) {
    throw Failure(target.name() + " is stopped by a signal or a debugger: have it go on first");
  }
  Profiler profiler(target, Seconds(1 / wanted.rate));
  const Seconds began = Profiler::processorTime();
  profiler.run(Seconds(wanted.seconds));
  const Seconds processor = Profiler::processorTime() - began;
  if (!profiler.hasSeenFibers()) {
    target.checkThatItLives();
    if (profiler.hasBegunAnother()) {
      throw Failure(target.name() + " has begun another program while it was looked at");
    }
    throw Failure(target.name() + " uses weft, and had no task and no bound thread meanwhile");
  }
  write(wanted.path, profiler.stacks().text());
  tell(target, profiler, processor);
  return 0;
}

}  // namespace

constinit const Command kProfile = {"profile", "[--seconds N] [--rate N] [-o PATH] [--binary PATH]... PID",
                                    "samples where tasks compute and wait, for a flame graph", kProfileHelp,
                                    profile};

}  // namespace weft::inline v0_1::detail::tools
