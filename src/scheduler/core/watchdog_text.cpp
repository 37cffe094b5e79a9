// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/watchdog_text.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "inspect/lock_cycles.h"
#include "inspect/phrases.h"
#include "inspect/report.h"

namespace weft::inline v0_1::detail {
namespace {

using Condition = Watchdog::Condition;
using inspect::Snapshot;

// Returns: the members of the deadlock's cycle; none if these cycles lack it.
std::span<const uint32_t> cycleOf(const Finding& finding, const Snapshot& snapshot,
                                  const inspect::LockCycles& cycles) {
  for (size_t i = 0; i < cycles.size(); ++i) {
    const bool isIt = std::ranges::any_of(
        cycles[i], [&](uint32_t member) { return snapshot.fibers[member].address == finding.firstOfCycle; });
    if (isIt) {
      return cycles[i];
    }
  }
  return {};
}

inspect::LockCycles cyclesOf(const Snapshot& snapshot) {
  return inspect::findCycles(snapshot, snapshot.fibers.get_allocator().resource());
}

class FindingText {
 public:
  FindingText(inspect::Text& out, const Finding& finding, const Snapshot& snapshot, inspect::Names& names)
      : out_(out), finding_(finding), snapshot_(snapshot), names_(names), phrases_(out, snapshot, names) {}

  void write() {
    out_ << "weft: watchdog: ";
    writeProcess();
    switch (finding_.condition) {
      case Condition::LongTask:
        writeLongTask();
        break;
      case Condition::LongTaskOver:
        writeLongTaskOver();
        break;
      case Condition::Delay:
        writeDelay();
        break;
      case Condition::StuckQueue:
        writeStuckQueue();
        break;
      case Condition::Standstill:
        writeStandstill();
        break;
      case Condition::Deadlock:
        writeDeadlock();
        break;
    }
  }

 private:
  // "process 4711, server: "
  void writeProcess() {
    out_ << "process ";
    out_.decimal(static_cast<uint32_t>(snapshot_.processId));
    const std::string_view program = snapshot_.program;
    if (!program.empty()) {
      out_ << ", " << program.substr(program.rfind('/') + 1);
    }
    out_ << ": ";
  }

  void writeLongTask() {
    const inspect::Worker& worker = snapshot_.workers[finding_.worker];
    writeRunning(worker);
    out_ << " has run for at least ";
    inspect::writeDuration(out_, finding_.duration);
    out_ << " without waiting";
    if (hasWaiting(worker)) {
      out_ << "; ";
      writeWaiting(worker);
      out_ << " behind it";
    }
    out_ << '\n';
  }

  void writeLongTaskOver() {
    out_ << "task ";
    names_.writeTask(out_, finding_.task);
    out_ << " on thread ";
    out_.decimal(static_cast<uint32_t>(finding_.threadId)) << " has waited or ended at last, after at least ";
    inspect::writeDuration(out_, finding_.duration);
    out_ << '\n';
  }

  void writeDelay() {
    const inspect::Worker& worker = snapshot_.workers[finding_.worker];
    phrases_.worker(finding_.worker);
    out_ << " has looked after nothing else for at least ";
    inspect::writeDuration(out_, finding_.duration);
    out_ << ": ";
    writeWaiting(worker);
    if (worker.state == inspect::Worker::State::Asleep) {
      out_ << " while its thread sleeps";
    } else {
      out_ << " behind ";
      writeRunning(worker);
    }
    out_ << '\n';
  }

  void writeStuckQueue() {
    out_ << "no worker has taken a task for at least ";
    inspect::writeDuration(out_, finding_.duration);
    out_ << " from the queue of scheduler ";
    out_.hex(finding_.scheduler) << ", which has ";
    inspect::writeCount(out_, finding_.numQueued, "task");
    out_ << '\n';
    inspect::writeReport(out_, snapshot_, names_);
  }

  void writeStandstill() {
    out_ << "nothing can go on: for at least ";
    inspect::writeDuration(out_, finding_.duration);
    out_ << " fibers have waited, and all threads of the process that could wake one wait themselves\n";
    inspect::writeReport(out_, snapshot_, names_);
  }

  // A later snapshot may lack the cycle: its waits may have had a time limit.
  void writeDeadlock() {
    const inspect::LockCycles cycles = cyclesOf(snapshot_);
    const auto members = cycleOf(finding_, snapshot_, cycles);
    if (members.empty()) {
      out_
          << "fibers waited for locks of each other, but a time limit or a stop has ended one of the waits\n";
      return;
    }
    inspect::writeCycle(out_, snapshot_, members, names_);
  }

  void writeRunning(const inspect::Worker& worker) {
    const inspect::Fiber* const running = snapshot_.runningOn(worker);
    if (running == nullptr) {
      out_ << "what its thread runs";
      return;
    }
    phrases_.codeAndPlace(*running);
    if (worker.id >= 0) {
      out_ << " on thread ";
      out_.decimal(static_cast<uint32_t>(worker.threadId));
    }
  }

  static bool isTimerDue(const inspect::Worker& worker) {
    return worker.numTimers != 0 && worker.untilTimer < std::chrono::nanoseconds(0);
  }
  static bool hasWaiting(const inspect::Worker& worker) {
    return worker.numReady != 0 || worker.numQueued != 0 || isTimerDue(worker);
  }

  // "2 fibers ready to go on, 1 queued task, a timer due for 3 s wait"
  void writeWaiting(const inspect::Worker& worker) {
    std::string_view separator;
    uint64_t count = 0;
    const auto write = [&](uint64_t number, std::string_view noun, std::string_view what) {
      if (number != 0) {
        out_ << separator;
        inspect::writeCount(out_, number, noun);
        out_ << what;
        separator = ", ";
        count += number;
      }
    };
    write(worker.numReady, "fiber", " ready to go on");
    write(worker.numQueued, "queued task", "");
    if (isTimerDue(worker)) {
      out_ << separator << "a timer due for ";
      inspect::writeDuration(out_, -worker.untilTimer);
      ++count;
    }
    out_ << (count == 1 ? " waits" : " wait");
  }

  inspect::Text& out_;
  const Finding& finding_;
  const Snapshot& snapshot_;
  inspect::Names& names_;
  inspect::Phrases phrases_;
};

}  // namespace

bool needsBacktraces(const Finding& finding) {
  return finding.condition == Condition::StuckQueue || finding.condition == Condition::Standstill ||
         finding.condition == Condition::Deadlock;
}

bool hasBacktraces(const inspect::Snapshot& snapshot, const Finding& finding) {
  if (finding.condition != Condition::Deadlock) {
    return true;
  }
  const inspect::LockCycles cycles = cyclesOf(snapshot);
  const auto members = cycleOf(finding, snapshot, cycles);
  return !members.empty() && std::ranges::all_of(members, [&](uint32_t member) {
    return snapshot.fibers[member].numFrames != 0;
  });
}

void writeFinding(inspect::Text& out, const Finding& finding, const inspect::Snapshot& snapshot,
                  inspect::Names& names) {
  FindingText(out, finding, snapshot, names).write();
}

}  // namespace weft::inline v0_1::detail
