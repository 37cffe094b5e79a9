// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/observed.h"
#include "tools/output.h"
#include "tools/process_status.h"
#include "tools/terminal.h"
#include "tools/top_view.h"
#include "tools/worker_rates.h"

namespace weft::inline v0_1::detail::tools {
namespace {

constexpr char kTopHelp[] =
    "Shows what the schedulers of a process do, again and again. Each worker has a line: the share of the\n"
    "time that its thread computed (CPU); how many tasks ended there, how many it stole, and how often it\n"
    "went to sleep, each a second; how many tasks are queued there, how many of its fibers are ready, and\n"
    "how many wait; what it does now. Below are the largest groups of fibers that wait.\n"
    "\n"
    "  --interval SECONDS  between two looks; 1 if left out\n"
    "  --count N           ends after N looks\n"
    "  --once              as --count 1\n"
    "\n"
    "On a terminal each look replaces the one before, and Ctrl-C ends it. Otherwise they follow each other.\n"
    "It ends when the process ends. Where more than 10,000 fibers wait it does not say in which calls:\n"
    "`weft ps` does.\n";

// A look with the stacks of so many fibers takes as many instructions, some 100 million, as a look without
// stacks at 100,000 fibers.
constexpr uint64_t kMostStacks = 10'000;

struct TopArguments {
  double seconds = 1;
  uint64_t mostLooks = 0;  // 0: no end
  const char* process = nullptr;
};

TopArguments parseTop(Arguments arguments) {
  TopArguments result;
  Options options(arguments);
  while (options.next()) {
    if (options.is("--interval")) {
      result.seconds = options.number(0.01, 86'400);
    } else if (options.is("--count")) {
      const char* const text = options.value();
      result.mostLooks = static_cast<uint64_t>(parsePositive(text));
      if (result.mostLooks == 0) {
        throw UsageError("--count needs a number of looks, which \"" + std::string(text) + "\" is not");
      }
    } else if (options.is("--once")) {
      result.mostLooks = 1;
    } else {
      options.failUnknown("top");
    }
  }
  result.process = options.only("top", "the number of a process");
  return result;
}

std::string timeOfDay() {
  const time_t now = time(nullptr);
  tm parts{};
  localtime_r(&now, &parts);
  char text[16] = "";
  (void)strftime(text, sizeof text, "%H:%M:%S", &parts);
  return text;
}

class Top {
 public:
  explicit Top(const TopArguments& arguments)
      : arguments_(arguments), target_(arguments.process), timer_(target_.processId(), view_.isTerminal()) {
    if (target_.core() != nullptr) {
      throw Failure(target_.name() +
                    " is a core file, and top needs a process that runs: `weft ps` tells what it holds");
    }
  }

  int run() {
    // Rates need two looks. A terminal shows the first one without them.
    bool goesOn = look(view_.isTerminal());
    for (uint64_t numLooks = 0; goesOn && (numLooks < arguments_.mostLooks || arguments_.mostLooks == 0);
         ++numLooks) {
      goesOn = wait() && look(true);
    }
    return 0;
  }

 private:
  // Returns: whether to go on.
  bool wait() {
    const auto next = time_ + std::chrono::duration_cast<LookTime::duration>(
                                  std::chrono::duration<double>(arguments_.seconds));
    for (;;) {
      switch (timer_.waitUntil(next)) {
        case LookTimer::End::Time:
          return true;
        case LookTimer::End::Process:
          return sayThatItHasEnded();
        case LookTimer::End::NewSize:
          view_.show(lines_);
          break;
        case LookTimer::End::Interrupt:
          writeOutput("\n");  // the terminal shows ^C in the line
          return false;
      }
    }
  }

  bool look(bool isShown) {
    std::optional<Observed> observed;
    const bool hasStacks = numBlocked_ <= kMostStacks;
    try {
      observed.emplace(target_, ObserveOptions{.hasStacks = hasStacks && isShown, .mayBeEmpty = true});
    } catch (const Failure&) {
      if (target_.lives()) {
        throw;
      }
      return sayThatItHasEnded();
    }
    time_ = std::chrono::steady_clock::now();
    const inspect::Snapshot& snapshot = observed->snapshot();
    std::vector<std::chrono::nanoseconds> processor;
    numBlocked_ = 0;
    for (const inspect::Worker& worker : snapshot.workers) {
      const auto status = statusOfThread(target_.processId(), worker.threadId);
      processor.push_back(status ? status->processorTime : std::chrono::nanoseconds(-1));
      numBlocked_ += worker.numBlocked;
    }
    const std::vector<WorkerRate> rates = rates_.look(snapshot, processor, time_);
    if (isShown) {
      const size_t mostLines = view_.mostLines();
      const bool hasHint = !hasStacks && mostLines != 0;
      lines_ = topLines(snapshot, rates, observed->names(),
                        {.heading = timeOfDay() + " " + target_.name() + ", " + target_.program() +
                                    (target_.isStopped() ? " (stopped)" : ""),
                         .mostLines = mostLines - (hasHint ? 1 : 0)});
      if (hasHint) {
        lines_.push_back("too many fibers to read their stacks at each look: `weft ps " +
                         std::to_string(target_.processId()) + "` tells in which calls they wait");
      }
      view_.show(lines_);
    }
    return true;
  }

  bool sayThatItHasEnded() {
    writeOutput(target_.name() + " has ended\n");
    return false;
  }

  const TopArguments arguments_;
  Target target_;
  View view_;
  LookTimer timer_;
  WorkerRates rates_;
  LookTime time_;
  uint64_t numBlocked_ = ~uint64_t{0};  // at the last look
  std::vector<std::string> lines_;
};

int top(Arguments arguments) { return Top(parseTop(arguments)).run(); }

}  // namespace

constinit const Command kTop = {"top", "[--interval SECONDS] [--count N | --once] PID",
                                "shows what workers do, again and again", kTopHelp, top};

}  // namespace weft::inline v0_1::detail::tools
