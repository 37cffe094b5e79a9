// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "inspect/fiber_sampler.h"
#include "inspect/image_names.h"
#include "inspect/text.h"
#include "inspect/unwinder.h"
#include "tools/command.h"
#include "tools/folded_stacks.h"
#include "tools/output.h"
#include "tools/target.h"
#include "tools/terminal.h"
#include "tools/thread_sampler.h"

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
    "that keeps the thread from other fibers; \"waits\", as a fiber does; \"ready\", woken, but not gone on\n"
    "with yet; \"outside of tasks, in a call\", code of a bound thread such as main() and what\n"
    "blocking_call() calls. Then come the task and the calls. Time of fibers adds up: ten that wait for a\n"
    "second are ten seconds. A sample looks at all workers, and at some fibers, chosen at random.\n"
    "\"...\" stands for outer calls that could not be found, \"???\" for code of no file. A function that\n"
    "calls itself is told once.\n"
    "\n"
    "PID is a process that runs. It is not stopped: a timer of the kernel's tells what computes, by\n"
    "perf_event_open(). Where that is refused, code that computes has a task, and no calls. Ctrl-C ends the\n"
    "samples early.\n";

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

struct ProfileArguments {
  double seconds = 10;
  double rate = 10;
  std::string path;  // empty: the standard output
  std::vector<std::string> binaries;
  const char* process = nullptr;
};

double parseNumber(const char* option, const char* text, double least, double most) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(number >= least) || number > most) {
    char range[64];
    std::snprintf(range, sizeof range, "%g to %g", least, most);
    throw UsageError(std::string(option) + " needs a number from " + range + ", which \"" + text +
                     "\" is not");
  }
  return number;
}

ProfileArguments parseProfile(Arguments arguments) {
  ProfileArguments result;
  Options options(arguments);
  while (options.next()) {
    if (options.is("--seconds")) {
      result.seconds = parseNumber("--seconds", options.value(), 0.01, 1e6);
    } else if (options.is("--rate")) {
      result.rate = parseNumber("--rate", options.value(), 0.01, 1000);
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

Seconds processorTime() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return Seconds(seconds(use.ru_utime) + seconds(use.ru_stime));
}

// The fiber is one that was running when all fibers were looked at. Returns: nothing, if its task has ended.
std::optional<FoldedStacks::State> stateOf(const inspect::Fiber& fiber, bool isInCall) {
  switch (fiber.state) {
    case inspect::Fiber::State::Running:
      return !isInCall         ? FoldedStacks::State::Computes
             : fiber.task != 0 ? FoldedStacks::State::InCall
                               : FoldedStacks::State::OwnCall;
    case inspect::Fiber::State::Blocked:
      return FoldedStacks::State::Waits;
    case inspect::Fiber::State::Ready:
      return FoldedStacks::State::Ready;
    case inspect::Fiber::State::Idle:
      break;
  }
  return std::nullopt;
}

class Profile {
 public:
  explicit Profile(const ProfileArguments& arguments)
      : arguments_(arguments),
        target_(arguments.process, arguments.binaries),
        names_(target_.images(), &arena_),
        unwinder_(target_.images(), &arena_),
        stacks_(names_),
        timer_(target_.processId(), true),
        threads_(target_, unwinder_, period_) {
    if (target_.core() != nullptr) {
      throw Failure(target_.name() +
                    " is a core file, and profile needs a process that runs: `weft ps` tells what it holds");
    }
    if (target_.isStopped()) {
      throw Failure(target_.name() + " is stopped by a signal or a debugger: have it go on first");
    }
    for (const inspect::Offsets& offsets : target_.offsets()) {
      copies_.push_back(std::make_unique<Copy>(target_, offsets, unwinder_));
    }
  }

  int run() {
    sampleUntilEnd();
    if (numFibers_ == 0) {
      target_.checkThatItLives();
      throw Failure(target_.name() + " uses weft, and had no task and no bound thread meanwhile");
    }
    write(stacks_.text());
    tell();
    return 0;
  }

 private:
  static constexpr uint64_t kFewSamples = 20;

  // One of weft in the process.
  struct Copy {
    Copy(Target& target, const inspect::Offsets& offsets, inspect::Unwinder& unwinder)
        : sampler(target.memory(), offsets, unwinder, snapshot, {}) {
      snapshot.processId = target.processId();
    }
    inspect::Snapshot snapshot{std::pmr::new_delete_resource()};
    inspect::FiberSampler sampler;
  };

  void sampleUntilEnd() {
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration_cast<Clock::duration>(Seconds(arguments_.seconds));
    last_ = begin;
    look();  // counts for nothing, but from now on the kernel samples the threads
    for (auto next = begin; last_ < end && !hasEnded_;) {
      next = std::min(end, std::max(next + interval(), Clock::now()));
      auto why = LookTimer::End::NewSize;
      while (why == LookTimer::End::NewSize) {
        why = timer_.waitUntil(next);
      }
      hasEnded_ = why == LookTimer::End::Process;
      if (!hasEnded_) {
        sample();
      }
      if (why == LookTimer::End::Interrupt) {
        break;
      }
    }
    duration_ = Clock::now() - begin;
  }

  // Not always the same, or samples would fall into step with what the program does at regular times.
  Clock::duration interval() {
    return std::chrono::duration_cast<Clock::duration>(period_ * jitter_(random_));
  }

  void look() {
    threads_.beginLook();
    for (const std::unique_ptr<Copy>& copy : copies_) {
      copy->sampler.look();
      for (uint32_t worker = 0; worker < copy->snapshot.workers.size(); ++worker) {
        addComputed(*copy, worker);
      }
    }
  }

  // What is seen now stands for the time since the last sample.
  void sample() {
    const auto now = Clock::now();
    const Seconds time = now - last_;
    last_ = now;
    ++numSamples_;
    look();
    for (const std::unique_ptr<Copy>& copy : copies_) {
      addFibers(*copy, time);
      for (uint32_t worker = 0; worker < copy->snapshot.workers.size(); ++worker) {
        if (copy->snapshot.workers[worker].state == inspect::Worker::State::Busy) {
          addThread(*copy, worker, time);
        }
      }
    }
  }

  void addComputed(Copy& copy, uint32_t worker) {
    threads_.forEachComputed(copy.snapshot, worker, [&](uint32_t fiber) {
      stacks_.add(FoldedStacks::State::Computes, copy.snapshot, copy.snapshot.fibers[fiber], period_);
      ++numFibers_;
    });
  }

  void addFibers(Copy& copy, Seconds time) {
    for (uint32_t i = 0; i < copy.snapshot.fibers.size(); ++i) {
      const inspect::Fiber& fiber = copy.snapshot.fibers[i];
      const bool waits = fiber.state == inspect::Fiber::State::Blocked;
      if (waits || (fiber.state == inspect::Fiber::State::Ready && fiber.task != 0)) {
        const auto state = waits ? FoldedStacks::State::Waits : FoldedStacks::State::Ready;
        stacks_.add(state, copy.snapshot, fiber, time * copy.sampler.weightOf(i));
        ++numFibers_;
      }
    }
  }

  void addThread(Copy& copy, uint32_t worker, Seconds time) {
    const auto sample = threads_.sample(copy.sampler, copy.snapshot, worker);
    if (!sample) {
      return;
    }
    inspect::Fiber& fiber = copy.snapshot.fibers[sample->fiber];
    if (const auto state = stateOf(fiber, sample->isInCall)) {
      if (fiber.state != inspect::Fiber::State::Running) {
        skipCallsOfSearch(copy.snapshot, fiber);
      }
      stacks_.add(*state, copy.snapshot, fiber, time);
      ++numFibers_;
    }
  }

  // A worker looks for work on the stack of a fiber that waits. Calls of weft's are left out elsewhere.
  void skipCallsOfSearch(const inspect::Snapshot& snapshot, inspect::Fiber& fiber) {
    const auto frames = snapshot.framesOf(fiber);
    const auto own = std::ranges::find_if(frames, [this](auto pc) { return names_.isOfWeft(pc); });
    if (own != frames.end()) {
      const auto count = static_cast<uint32_t>(own - frames.begin());
      fiber.firstFrame += count;
      fiber.numFrames -= count;
    }
  }

  void write(const std::string& text) const {
    if (arguments_.path.empty()) {
      return writeOutput(text);
    }
    errno = 0;
    std::ofstream file(arguments_.path, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
      throw Failure(arguments_.path + " cannot be written (" + std::strerror(errno) +
                    "): choose another path with `weft profile -o PATH`");
    }
  }

  // On stderr, for the standard output may be the file.
  void tell() const {
    const auto seconds = [this](FoldedStacks::State state) { return stacks_.total(state).count(); };
    std::fprintf(stderr,
                 "%s: %llu samples in %.1f s: computed %.3g s, blocked threads %.3g s, was ready %.3g s, "
                 "waited %.3g s. Looking took %.2g %% of a processor.\n",
                 target_.name().c_str(), static_cast<unsigned long long>(numSamples_), duration_.count(),
                 seconds(FoldedStacks::State::Computes), seconds(FoldedStacks::State::InCall),
                 seconds(FoldedStacks::State::Ready), seconds(FoldedStacks::State::Waits),
                 100 * (processorTime() - processorBegan_).count() / duration_.count());
    if (hasEnded_) {
      std::fprintf(stderr, "It has ended meanwhile.\n");
    }
    if (numSamples_ < kFewSamples) {
      std::fprintf(stderr, "So few samples say little: take more with --rate or --seconds.\n");
    }
    if (threads_.error() != 0) {
      std::fprintf(
          stderr,
          "Code that computes has no calls, as perf_event_open() is refused (%s): run this as root, or "
          "set kernel.perf_event_paranoid to 2 or less. In a container, allow that call.\n",
          std::strerror(threads_.error()));
    }
  }

  const ProfileArguments arguments_;
  Target target_;
  inspect::Arena arena_;
  inspect::ImageNames names_;
  inspect::Unwinder unwinder_;
  FoldedStacks stacks_;
  LookTimer timer_;
  const std::chrono::nanoseconds period_ =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(1 / arguments_.rate));
  ThreadSampler threads_;
  std::vector<std::unique_ptr<Copy>> copies_;
  std::minstd_rand random_;
  std::uniform_real_distribution<double> jitter_{0.5, 1.5};
  Clock::time_point last_;  // sample
  Seconds duration_{};
  const Seconds processorBegan_ = processorTime();
  uint64_t numSamples_ = 0;
  uint64_t numFibers_ = 0;  // that were counted
  bool hasEnded_ = false;
};

int profile(Arguments arguments) { return Profile(parseProfile(arguments)).run(); }

}  // namespace

constinit const Command kProfile = {"profile", "[--seconds N] [--rate N] [-o PATH] [--binary PATH]... PID",
                                    "samples where tasks compute and wait, for a flame graph", kProfileHelp,
                                    profile};

}  // namespace weft::inline v0_1::detail::tools
