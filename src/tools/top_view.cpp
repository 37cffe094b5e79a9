// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/top_view.h"

#include <algorithm>
#include <cmath>

#include "inspect/fiber_groups.h"
#include "inspect/phrases.h"
#include "inspect/text.h"
#include "tools/output.h"

namespace weft::inline v0_1::detail::tools {
namespace {

using inspect::Text;

// From so many on, the workers that have nothing to do share a line.
constexpr size_t kManyIdle = 4;
// So many groups have room before workers do.
constexpr size_t kFewGroups = 3;

std::string grouped(uint64_t number) {
  return textOf([number](Text& out) { out.grouped(number); });
}

std::string counted(uint64_t count, std::string_view noun) {
  return textOf([&](Text& out) { inspect::writeCount(out, count, noun); });
}

std::string padded(const std::string& text, size_t width, bool isNumber) {
  const std::string spaces(width > text.size() ? width - text.size() : 0, ' ');
  return isNumber ? spaces + text : text + spaces;
}

class TopView {
 public:
  TopView(const inspect::Snapshot& snapshot, std::span<const WorkerRate> rates, inspect::Names& names,
          const TopOptions& options)
      : snapshot_(snapshot), rates_(rates), names_(names), options_(options) {}

  std::vector<std::string> lines();

 private:
  std::string nameOf(const inspect::Worker& worker) const;
  size_t nameWidth() const;
  std::string headline() const;
  std::string fibersLine() const;
  std::vector<std::string> workerLines();
  std::string workerLine(uint32_t index);
  std::string idleLine(std::span<const uint32_t> idle, bool areAll) const;
  std::string activity(uint32_t index) const;
  std::vector<std::string> groupLines(const inspect::FiberGroups& groups, size_t mostLines);
  std::string groupLine(const inspect::FiberGroup& group);
  bool isIdle(uint32_t index) const;

  const inspect::Snapshot& snapshot_;
  const std::span<const WorkerRate> rates_;
  inspect::Names& names_;
  const TopOptions& options_;
};

// Cuts a list that is too long for the view.
void cutLines(std::vector<std::string>& lines, size_t most) {
  if (lines.size() > most) {
    const size_t kept = most == 0 ? 0 : most - 1;
    const std::string rest = "and " + counted(lines.size() - kept, "more line");
    lines.resize(kept);
    if (most != 0) {
      lines.push_back(rest);
    }
  }
}

std::vector<std::string> TopView::lines() {
  std::vector<std::string> result = {headline()};
  if (snapshot_.schedulers.empty()) {
    result.push_back("no scheduler now");
    return result;
  }
  result.push_back(fibersLine());
  result.push_back(padded("WORKER", nameWidth(), false) +
                   "  CPU TASKS/s STEALS/s SLEEPS/s QUEUED  READY    WAIT  DOES");
  std::vector<std::string> workers = workerLines();
  const inspect::FiberGroups groups(snapshot_, names_, snapshot_.fibers.get_allocator().resource());
  const size_t room = options_.mostLines - std::min(options_.mostLines, result.size() + 1);
  const size_t fewGroups = std::min({groups.all().size(), kFewGroups, room / 2});
  cutLines(workers, room - fewGroups);
  result.insert(result.end(), workers.begin(), workers.end());
  const std::vector<std::string> waiting = groupLines(groups, room - workers.size());
  if (!waiting.empty()) {
    result.push_back(" FIBERS");
    result.insert(result.end(), waiting.begin(), waiting.end());
  }
  return result;
}

std::string TopView::nameOf(const inspect::Worker& worker) const {
  return textOf([&](Text& out) { inspect::Phrases(out, snapshot_, names_).workerName(worker); });
}

size_t TopView::nameWidth() const {
  size_t width = 0;
  for (const inspect::Worker& worker : snapshot_.workers) {
    width = std::max(width, nameOf(worker).size());
  }
  return width;
}

std::string TopView::headline() const {
  const auto numBound = static_cast<uint64_t>(
      std::ranges::count_if(snapshot_.workers, [](const inspect::Worker& w) { return w.id < 0; }));
  const uint64_t numWorkers = snapshot_.workers.size() - numBound;
  std::string result = options_.heading + ": " + counted(snapshot_.schedulers.size(), "scheduler");
  result += numWorkers != 0 ? ", " + counted(numWorkers, "worker thread") : "";
  result += numBound != 0 ? ", " + counted(numBound, "bound thread") : "";
  return result;
}

std::string TopView::fibersLine() const {
  uint64_t numWaiting = 0, numReady = 0, numIdle = 0, numRunning = 0;
  for (const inspect::Fiber& fiber : snapshot_.fibers) {
    using State = inspect::Fiber::State;
    numWaiting += fiber.state == State::Blocked;
    numReady += fiber.state == State::Ready;
    numIdle += fiber.state == State::Idle && !fiber.isMain;
    numRunning += fiber.state == State::Running && fiber.task != 0;
  }
  double tasks = 0;
  const bool isKnown = std::ranges::any_of(rates_, &WorkerRate::isKnown);
  for (const WorkerRate& rate : rates_) {
    tasks += rate.tasks;
  }
  return (isKnown ? rateText(tasks) : "-") + " tasks/s; " +
         counted(numRunning + numReady + numWaiting, "fiber") + " in use: " + grouped(numRunning) +
         (numRunning == 1 ? " runs a task, " : " run a task, ") + grouped(numReady) + " ready, " +
         grouped(numWaiting) + (numWaiting == 1 ? " waits; " : " wait; ") + grouped(numIdle) + " idle" +
         (snapshot_.isComplete ? "" : "; some could not be read");
}

bool TopView::isIdle(uint32_t index) const {
  const inspect::Worker& worker = snapshot_.workers[index];
  return worker.state != inspect::Worker::State::Busy && worker.numReady == 0 && worker.numQueued == 0 &&
         rates_[index].tasks == 0 && inspect::Phrases::blockedMain(snapshot_, worker) == nullptr;
}

std::vector<std::string> TopView::workerLines() {
  std::vector<std::string> result;
  for (const inspect::Scheduler& scheduler : snapshot_.schedulers) {
    const bool hasLine = snapshot_.schedulers.size() > 1 || scheduler.numInjected != 0;
    if (hasLine) {
      result.push_back(textOf([&](Text& out) { (out << "scheduler ").hex(scheduler.address); }));
    }
    if (scheduler.numInjected != 0) {
      result.back() += ": " + counted(scheduler.numInjected, "task") + " queued for any worker";
    }
    std::vector<uint32_t> idle;
    for (uint32_t i = scheduler.firstWorker; i < scheduler.firstWorker + scheduler.numWorkers; ++i) {
      if (isIdle(i)) {
        idle.push_back(i);
      }
    }
    for (uint32_t i = scheduler.firstWorker; i < scheduler.firstWorker + scheduler.numWorkers; ++i) {
      if (idle.size() < kManyIdle || !isIdle(i)) {
        result.push_back(workerLine(i));
      }
    }
    if (idle.size() >= kManyIdle) {
      result.push_back(idleLine(idle, idle.size() == scheduler.numWorkers));
    }
  }
  return result;
}

std::string TopView::idleLine(std::span<const uint32_t> idle, bool areAll) const {
  uint64_t numBlocked = 0;
  for (const uint32_t i : idle) {
    numBlocked += snapshot_.workers[i].numBlocked;
  }
  return textOf([&](Text& out) {
    inspect::Phrases(out, snapshot_, names_).quietWorkers(idle.size(), areAll, numBlocked);
  });
}

std::string TopView::workerLine(uint32_t index) {
  const inspect::Worker& worker = snapshot_.workers[index];
  const WorkerRate& rate = rates_[index];
  const auto rateCell = [&rate](double value, size_t width) {
    return padded(rate.isKnown ? rateText(value) : "-", width, true);
  };
  const auto numberCell = [](uint64_t value, size_t width) { return padded(grouped(value), width, true); };
  const std::string processor =
      rate.processor < 0 ? "-" : std::to_string(std::lround(100 * rate.processor)) + "%";
  return padded(nameOf(worker), nameWidth(), false) + padded(processor, 5, true) + rateCell(rate.tasks, 8) +
         rateCell(rate.steals, 9) + rateCell(rate.sleeps, 9) + numberCell(worker.numQueued, 7) +
         numberCell(worker.numReady, 7) + numberCell(worker.numBlocked, 8) + "  " + activity(index);
}

std::string TopView::activity(uint32_t index) const {
  return textOf([&](Text& out) {
    inspect::Phrases phrases(out, snapshot_, names_);
    phrases.activity(snapshot_.workers[index], rates_[index].sameTask);
    phrases.ownWait(snapshot_.workers[index]);
  });
}

std::vector<std::string> TopView::groupLines(const inspect::FiberGroups& groups, size_t mostLines) {
  std::vector<std::string> result;
  if (mostLines == 0) {
    return result;
  }
  const bool allFit = groups.all().size() <= std::min(mostLines, options_.mostGroups);
  const size_t count = allFit ? groups.all().size() : std::min(options_.mostGroups, mostLines - 1);
  for (const inspect::FiberGroup& group : groups.all().first(count)) {
    result.push_back(groupLine(group));
  }
  if (count < groups.all().size()) {
    uint64_t numFibers = 0;
    for (const inspect::FiberGroup& group : groups.all().subspan(count)) {
      numFibers += group.numMembers;
    }
    result.push_back(padded(grouped(numFibers), 7, true) + " in " +
                     counted(groups.all().size() - count, "more group"));
  }
  return result;
}

std::string TopView::groupLine(const inspect::FiberGroup& group) {
  return textOf([&](Text& out) {
    const inspect::Fiber& first = snapshot_.fibers[group.first];
    inspect::Phrases phrases(out, snapshot_, names_);
    out << padded(grouped(group.numMembers), 7, true);
    if (group.numMembers == 1) {
      phrases.wait(first);
    } else {
      phrases.wait(group);
    }
    if (const inspect::Address frame = phrases.ownFrame(first)) {
      out << ", in ";
      names_.writeFrame(out, frame);
    }
    out << "; ";
    phrases.code(group);
  });
}

}  // namespace

std::string rateText(double rate) {
  if (rate < 0.05) {
    return rate > 0 ? "<0.1" : "0";
  }
  if (rate < 9.95) {
    const auto tenths = std::lround(10 * rate);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
  }
  const double last = std::pow(10.0, std::max(std::floor(std::log10(rate)) - 1, 0.0));
  const auto rounded = static_cast<uint64_t>(std::llround(rate / last) * std::llround(last));
  if (rounded < 1000) {
    return std::to_string(rounded);
  }
  const uint64_t unit = rounded < 1'000'000 ? 1000 : 1'000'000;
  const uint64_t tenth = rounded < 10 * unit ? rounded % unit / (unit / 10) : 0;
  return grouped(rounded / unit) + (tenth != 0 ? "." + std::to_string(tenth) : "") +
         (unit == 1000 ? "k" : "M");
}

std::string cutLine(const std::string& line, size_t columns) {
  size_t numCharacters = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xc0) != 0x80;  // and goes on no character
    if (begins && numCharacters++ == columns) {
      return line.substr(0, i);
    }
  }
  return line;
}

std::vector<std::string> topLines(const inspect::Snapshot& snapshot, std::span<const WorkerRate> rates,
                                  inspect::Names& names, const TopOptions& options) {
  return TopView(snapshot, rates, names, options).lines();
}

}  // namespace weft::inline v0_1::detail::tools
