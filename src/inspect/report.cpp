// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/report.h"

#include <algorithm>

#include "inspect/fiber_groups.h"
#include "inspect/phrases.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// From so many on, the workers of a scheduler that have nothing to do share a line.
constexpr size_t kManyQuiet = 4;

class Report {
 public:
  Report(Text& out, const Snapshot& snapshot, Names& names, const ReportOptions& options)
      : out_(out), snapshot_(snapshot), names_(names), options_(options), phrases_(out, snapshot, names) {}

  void write() {
    writeHeadline();
    const LockCycles cycles = findCycles(snapshot_, snapshot_.fibers.get_allocator().resource());
    writeCycles(out_, snapshot_, cycles, names_, options_);
    for (const Scheduler& scheduler : snapshot_.schedulers) {
      writeScheduler(scheduler);
    }
    writeGroups(cycles);
    writeReadyGroups();
    if (!snapshot_.isComplete) {
      out_ << "Some of this could not be read, or changed while it was read, and is left out.\n";
    }
    names_.writeFailure(out_);
    out_ << "weft: end of process ";  // so that a log that was cut is known
    out_.decimal(static_cast<uint32_t>(snapshot_.processId)) << '\n';
  }

 private:
  void writeHeadline();
  void writeScheduler(const Scheduler& scheduler);
  void writeQuietWorkers(std::span<const Worker> workers, size_t numQuiet);
  void writeWorker(const Worker& worker);
  void writeLongBusy(const Worker& worker);
  void writeQueues(const Worker& worker);
  uint64_t countInIo(const Worker& worker) const;
  void writeGroups(const LockCycles& cycles);
  void writeGroup(const FiberGroup& group, std::span<const uint32_t> members);
  void writeLeftOut(size_t numGroups, uint64_t numFibers);
  void writeReadyGroups();
  void writeReadyGroup(const FiberGroup& group, std::span<const uint32_t> members);
  void writeGroupOfOne(const FiberGroup& group);
  void writeOwnFrame(const Fiber& fiber);
  bool isSameHolder(std::span<const uint32_t> members) const;
  bool isTold(const FiberGroup& group, const LockCycles& cycles) const;

  bool isQuiet(const Worker& worker) const;

  Text& out_;
  const Snapshot& snapshot_;
  Names& names_;
  const ReportOptions& options_;
  Phrases phrases_;
};

void Report::writeHeadline() {
  const auto numBound = std::ranges::count_if(snapshot_.workers, [](const Worker& w) { return w.id < 0; });
  const auto numWaiting = std::ranges::count(snapshot_.fibers, Fiber::State::Blocked, &Fiber::state);
  const auto numUsed = std::ranges::count_if(snapshot_.fibers, [](const Fiber& fiber) {
    return fiber.state != Fiber::State::Idle && (fiber.task != 0 || fiber.state != Fiber::State::Running);
  });
  const uint64_t numWorkers = snapshot_.workers.size() - static_cast<uint64_t>(numBound);
  out_ << "weft: process ";
  out_.decimal(static_cast<uint32_t>(snapshot_.processId));
  if (!snapshot_.program.empty()) {
    out_ << ", " << snapshot_.program;  // `weft symbolize` looks for it there
  }
  out_ << ": ";
  writeCount(out_, snapshot_.schedulers.size(), "scheduler");
  if (numWorkers != 0) {
    out_ << ", ";
    writeCount(out_, numWorkers, "worker thread");
  }
  if (numBound != 0) {
    out_ << ", ";
    writeCount(out_, static_cast<uint64_t>(numBound), "bound thread");
  }
  out_ << ", ";
  writeCount(out_, static_cast<uint64_t>(numUsed), "fiber");
  out_ << " in use, of which ";
  out_.grouped(static_cast<uint64_t>(numWaiting)) << (numWaiting == 1 ? " waits" : " wait");
  if (snapshot_.time != 0) {
    writeTime(out_ << "; ", snapshot_.time);
  }
  out_ << '\n';
}

void Report::writeScheduler(const Scheduler& scheduler) {
  out_ << "scheduler ";
  out_.hex(scheduler.address);
  if (scheduler.numInjected != 0) {
    out_ << ": ";
    writeCount(out_, scheduler.numInjected, "task");
    out_ << " queued for any worker";
  }
  out_ << '\n';
  const auto workers = std::span(snapshot_.workers).subspan(scheduler.firstWorker, scheduler.numWorkers);
  const auto numQuiet = static_cast<size_t>(
      std::ranges::count_if(workers, [this](const Worker& worker) { return isQuiet(worker); }));
  for (const Worker& worker : workers) {
    if (numQuiet < kManyQuiet || !isQuiet(worker)) {
      writeWorker(worker);
    }
  }
  if (numQuiet >= kManyQuiet) {
    writeQuietWorkers(workers, numQuiet);
  }
}

void Report::writeQuietWorkers(std::span<const Worker> workers, size_t numQuiet) {
  uint64_t numBlocked = 0;
  for (const Worker& worker : workers) {
    numBlocked += isQuiet(worker) ? worker.numBlocked : 0;
  }
  out_ << "  ";
  phrases_.quietWorkers(numQuiet, numQuiet == workers.size(), numBlocked);
  out_ << '\n';
}

bool Report::isQuiet(const Worker& worker) const {
  return worker.state != Worker::State::Busy && worker.numReady == 0 && worker.numQueued == 0 &&
         Phrases::blockedMain(snapshot_, worker) == nullptr;
}

void Report::writeWorker(const Worker& worker) {
  out_ << "  ";
  phrases_.workerName(worker);
  if (worker.id >= 0 && worker.threadId != 0) {
    out_ << ", thread ";
    out_.decimal(static_cast<uint32_t>(worker.threadId));
  }
  out_ << ": ";
  phrases_.activity(worker);
  writeLongBusy(worker);
  phrases_.ownWait(worker);
  writeQueues(worker);
  out_ << '\n';
}

void Report::writeLongBusy(const Worker& worker) {
  const Fiber* const running = snapshot_.runningOn(worker);
  const bool isOwnCode = running != nullptr && isOutsideOfTasks(*running);
  // The code of a bound thread need not look after fibers, unless there are some.
  const bool isAwaited = worker.numReady + worker.numQueued + worker.numBlocked != 0;
  if (worker.state == Worker::State::Busy && worker.busyFor >= options_.leastBusy &&
      (isAwaited || !isOwnCode)) {
    out_ << "; has not looked after other fibers for ";
    writeDuration(out_, worker.busyFor);
  }
}

void Report::writeQueues(const Worker& worker) {
  std::string_view separator = "; ";
  const auto write = [&](uint64_t count, std::string_view noun, std::string_view one, std::string_view many) {
    if (count != 0) {
      out_ << separator;
      writeCount(out_, count, noun);
      out_ << (count == 1 ? one : many);
      separator = ", ";
    }
  };
  write(worker.numQueued, "task", " queued", " queued");
  write(worker.numReady, "fiber", " ready to go on", " ready to go on");
  // The wait of the thread's own code is told of already.
  const bool hasOwnWait = worker.numBlocked != 0 && Phrases::blockedMain(snapshot_, worker) != nullptr;
  write(worker.numBlocked - hasOwnWait, "fiber", " waits", " wait");
  if (const uint64_t numInIo = countInIo(worker); numInIo != 0) {
    out_ << ", ";
    out_.grouped(numInIo) << " for I/O";
  }
}

uint64_t Report::countInIo(const Worker& worker) const {
  const auto fibers = std::span(snapshot_.fibers).subspan(worker.firstFiber, worker.numFibers);
  return static_cast<uint64_t>(std::ranges::count_if(fibers, [this](const Fiber& fiber) {
    return fiber.state == Fiber::State::Blocked && fiber.what < snapshot_.names.size() &&
           snapshot_.names[fiber.what].starts_with("io::");
  }));
}

void Report::writeGroups(const LockCycles& cycles) {
  const FiberGroups groups(snapshot_, names_, snapshot_.fibers.get_allocator().resource());
  if (groups.isRefused()) {
    out_ << "There is no memory to list the fibers that wait.\n";
    return;
  }
  size_t numWritten = 0;
  size_t numLeft = 0;
  uint64_t numFibersLeft = 0;
  for (const FiberGroup& group : groups.all()) {
    if (isTold(group, cycles)) {
      continue;
    }
    if (numWritten == options_.mostGroups) {
      ++numLeft;
      numFibersLeft += group.numMembers;
      continue;
    }
    ++numWritten;
    if (group.numMembers == 1) {
      writeGroupOfOne(group);
    } else {
      writeGroup(group, groups.members(group));
    }
    const Fiber& first = snapshot_.fibers[group.first];
    phrases_.frames(phrases_.framesOfInterest(first), options_.mostFrames, "    ");
  }
  writeLeftOut(numLeft, numFibersLeft);
  if (std::ranges::any_of(snapshot_.fibers, &Fiber::isSwitchedByUcontext)) {
    out_ << "No calls are shown: this build uses ucontext (WEFT_UCONTEXT).\n";
  }
}

void Report::writeLeftOut(size_t numGroups, uint64_t numFibers) {
  if (numGroups != 0) {
    writeCount(out_, numGroups, "more group");
    out_ << ", ";
    writeCount(out_, numFibers, "fiber");
    out_ << " in all\n";
  }
}

void Report::writeReadyGroups() {
  const FiberGroups groups(snapshot_, names_, snapshot_.fibers.get_allocator().resource(),
                           Fiber::State::Ready);
  if (groups.isRefused()) {
    out_ << "There is no memory to list the fibers that are ready to go on.\n";
    return;
  }
  const size_t count = std::min(groups.all().size(), options_.mostReadyGroups);
  for (const FiberGroup& group : groups.all().first(count)) {
    writeReadyGroup(group, groups.members(group));
  }
  uint64_t numFibersLeft = 0;
  for (const FiberGroup& group : groups.all().subspan(count)) {
    numFibersLeft += group.numMembers;
  }
  writeLeftOut(groups.all().size() - count, numFibersLeft);
}

void Report::writeReadyGroup(const FiberGroup& group, std::span<const uint32_t> members) {
  const Fiber& first = snapshot_.fibers[group.first];
  const bool isOne = group.numMembers == 1;
  writeCount(out_, group.numMembers, "fiber");
  out_ << (isOne ? " is ready to go on, and waits for its turn on "
                 : " are ready to go on, and wait for their turn on ");
  const bool isOneWorker =
      std::ranges::all_of(members, [&](uint32_t i) { return snapshot_.fibers[i].worker == first.worker; });
  if (isOneWorker) {
    phrases_.worker(first.worker);
  } else {
    out_ << "their workers";
  }
  writeOwnFrame(first);
  out_ << "; ";
  phrases_.code(group);
  out_ << '\n';
}

// Returns: whether it is one fiber, and a deadlock that was written names it with its stack.
bool Report::isTold(const FiberGroup& group, const LockCycles& cycles) const {
  const size_t count = group.numMembers == 1 ? std::min(cycles.size(), options_.mostCycles) : 0;
  for (size_t i = 0; i < count; ++i) {
    const auto written = cycles[i].first(std::min(cycles[i].size(), options_.mostFibersOfCycle));
    if (std::ranges::find(written, group.first) != written.end()) {
      return true;
    }
  }
  return false;
}

void Report::writeGroup(const FiberGroup& group, std::span<const uint32_t> members) {
  const Fiber& first = snapshot_.fibers[group.first];
  if (isOutsideOfTasks(first)) {
    out_ << "the code of ";
    writeCount(out_, group.numMembers, "thread");
    out_ << ", outside of tasks,";
  } else {
    writeCount(out_, group.numMembers, "fiber");
  }
  phrases_.wait(group);
  writeOwnFrame(first);
  if (first.task != 0) {
    out_ << "; task ";
    names_.writeTask(out_, first.task);
  }
  phrases_.others(group);
  if (isSameHolder(members)) {
    phrases_.holder(first);
  }
  out_ << '\n';
}

void Report::writeGroupOfOne(const FiberGroup& group) {
  const Fiber& fiber = snapshot_.fibers[group.first];
  if (isOutsideOfTasks(fiber)) {
    phrases_.code(fiber);
    phrases_.wait(fiber);
    writeOwnFrame(fiber);
  } else {
    out_ << "1 fiber";
    phrases_.wait(fiber);
    writeOwnFrame(fiber);
    out_ << ": ";
    phrases_.place(fiber);
    out_ << ", ";
    phrases_.code(fiber);
  }
  phrases_.others(group);
  phrases_.holder(fiber);
  out_ << '\n';
}

void Report::writeOwnFrame(const Fiber& fiber) {
  if (const Address frame = phrases_.ownFrame(fiber)) {
    out_ << ", in ";
    names_.writeFrame(out_, frame);
  }
}

bool Report::isSameHolder(std::span<const uint32_t> members) const {
  const Fiber& first = snapshot_.fibers[members[0]];
  return std::ranges::all_of(members, [&](uint32_t i) {
    return snapshot_.fibers[i].owner == first.owner && snapshot_.fibers[i].holder == first.holder;
  });
}

}  // namespace

void writeReport(Text& out, const Snapshot& snapshot, Names& names, const ReportOptions& options) {
  Report(out, snapshot, names, options).write();
}

void writeCycles(Text& out, const Snapshot& snapshot, const LockCycles& cycles, Names& names,
                 const ReportOptions& options) {
  if (cycles.isRefused()) {
    out << "There is no memory to look for deadlocks among locks.\n";
    return;
  }
  const size_t count = std::min(cycles.size(), options.mostCycles);
  for (size_t i = 0; i < count; ++i) {
    writeCycle(out, snapshot, cycles[i], names, options);
  }
  if (count < cycles.size()) {
    uint64_t numFibers = 0;
    for (size_t i = count; i < cycles.size(); ++i) {
      numFibers += cycles[i].size();
    }
    writeCount(out, cycles.size() - count, "more deadlock");
    out << ", ";
    writeCount(out, numFibers, "fiber");
    out << " in all\n";
  }
}

void writeCycle(Text& out, const Snapshot& snapshot, std::span<const uint32_t> cycle, Names& names,
                const ReportOptions& options) {
  Phrases phrases(out, snapshot, names);
  if (cycle.size() == 1) {
    out << "deadlock: a fiber waits for a lock that it holds itself";
  } else {
    out << "deadlock: ";
    writeCount(out, cycle.size(), "fiber");
    out << " wait for locks of each other";
  }
  out << ", and only a time limit or a stop could end that:\n";
  const size_t count = std::min(cycle.size(), options.mostFibersOfCycle);
  for (size_t i = 0; i < count; ++i) {
    const Fiber& fiber = snapshot.fibers[cycle[i]];
    const Fiber& waitsForIt = snapshot.fibers[cycle[i == 0 ? cycle.size() - 1 : i - 1]];
    out << "  ";
    phrases.codeAndPlace(fiber);
    out << " holds ";
    phrases.object(waitsForIt);
    out << " and";
    phrases.wait(fiber);
    out << '\n';
    phrases.frames(phrases.framesOfInterest(fiber), options.mostFrames, "      ");
  }
  if (count < cycle.size()) {
    out << "  and ";
    writeCount(out, cycle.size() - count, "more fiber");
    out << '\n';
  }
}

}  // namespace weft::inline v0_1::detail::inspect
