// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/phrases.h"

#include <algorithm>

#include "inspect/object_waiters.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

using std::chrono::nanoseconds;

// A duration as it is written: with one decimal below ten, and with none above.
struct Rounded {
  explicit Rounded(nanoseconds duration) {
    struct Unit {
      std::string_view name;
      uint64_t size;  // ns
      uint64_t end;   // of the numbers that are written with it
    };
    static constexpr Unit kUnits[] = {
        {"us", 1'000, 1'000},         {"ms", 1'000'000, 1'000},
        {"s", 1'000'000'000, 120},    {"min", 60'000'000'000, 120},
        {"h", 3'600'000'000'000, 48}, {"days", 86'400'000'000'000, ~uint64_t{0}},
    };
    const auto count = static_cast<uint64_t>(std::max<nanoseconds::rep>(duration.count(), 0));
    const Unit* chosen = kUnits;
    while (count / chosen->size >= chosen->end) {
      ++chosen;
    }
    unit = chosen->name;
    whole = count / chosen->size;
    tenth = whole < 10 ? count % chosen->size / (chosen->size / 10) : 0;
  }
  bool operator==(const Rounded&) const = default;

  void writeNumber(Text& out) const {
    out.decimal(whole);
    if (tenth != 0) {
      out << '.';
      out.decimal(tenth);
    }
  }

  std::string_view unit;
  uint64_t whole;
  uint64_t tenth;
};

void writeSince(Text& out, nanoseconds shortest, nanoseconds longest) {
  if (longest.count() > 0) {
    out << ", for ";
    writeDurations(out, shortest, longest);
  }
}

// What a channel holds, and that nobody waits at its other side, which a reader may not know to follow. A
// fiber that could go on by now has been woken, and says nothing of the other side.
void writeValues(Text& out, const Fiber& fiber, std::string_view what) {
  const ObjectState& state = fiber.objectState;
  out << " (";
  if (state.capacity == 0) {
    out << "no buffer";
  } else {
    out.grouped(state.count) << " of ";
    writeCount(out, state.capacity, "value");
  }
  if (state.isClosed) {
    out << ", closed";
  } else {
    const bool isSend = what == kSend;
    const bool mustWait = isSend ? state.count >= state.capacity : state.count == 0;
    if (mustWait && fiber.numWaiters != 0 && fiber.numOpposite == 0) {
      out << "; no fiber waits to " << (isSend ? "receive" : "send");
    }
  }
  out << ')';
}

bool isDescriptor(std::string_view what) { return what.starts_with("io::"); }
bool isSleep(std::string_view what) { return what == "sleep"; }

bool hasObject(std::string_view what, Address object) {
  return isDescriptor(what) ? static_cast<int32_t>(object) >= 0 : isSharedObject(what, object);
}

}  // namespace

void writeDuration(Text& out, nanoseconds duration) {
  const Rounded rounded(duration);
  rounded.writeNumber(out);
  out << ' ' << rounded.unit;
}

void writeDurations(Text& out, nanoseconds shortest, nanoseconds longest) {
  const Rounded least(shortest);
  const Rounded most(longest);
  if (least != most) {
    least.writeNumber(out);
    if (least.unit != most.unit) {
      out << ' ' << least.unit;
    }
    out << " to ";
  }
  writeDuration(out, longest);
}

void writeTime(Text& out, int64_t seconds) {
  // Not localtime(), which takes a lock.
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const auto two = [&out](auto number) -> Text& {
    return (out << (number < 10 ? "0" : "")).decimal(static_cast<uint64_t>(number));
  };
  out.decimal(static_cast<uint64_t>(static_cast<int>(date.year()))) << '-';
  two(static_cast<unsigned>(date.month())) << '-';
  two(static_cast<unsigned>(date.day())) << 'T';
  two(clock.hours().count()) << ':';
  two(clock.minutes().count()) << ':';
  two(clock.seconds().count()) << 'Z';
}

void writeCount(Text& out, uint64_t count, std::string_view noun) {
  out.grouped(count) << ' ' << noun << (count == 1 ? "" : "s");
}

void writeWorkerName(Text& out, int32_t number, int32_t threadId, int32_t processId) {
  if (number < 0) {
    out << (threadId == processId ? "main thread " : "bound thread ");
    out.decimal(static_cast<uint32_t>(threadId));
  } else {
    out << "worker ";
    out.decimal(static_cast<uint32_t>(number));
  }
}

void Phrases::quietWorkers(size_t count, bool areAll, uint64_t numBlocked) {
  writeCount(out_, count, areAll ? "worker" : "other worker");
  out_ << " have nothing to do";
  if (numBlocked != 0) {
    out_ << "; ";
    writeCount(out_, numBlocked, "fiber");
    out_ << (numBlocked == 1 ? " of theirs waits" : " of theirs wait");
  }
}

const Fiber* Phrases::blockedMain(const Snapshot& snapshot, const Worker& worker) {
  if (worker.firstFiber >= snapshot.fibers.size() || worker.numFibers == 0) {
    return nullptr;
  }
  const Fiber& main = snapshot.fibers[worker.firstFiber];
  return main.state == Fiber::State::Blocked && isOutsideOfTasks(main) ? &main : nullptr;
}

void Phrases::worker(uint32_t index) {
  if (index >= snapshot_.workers.size()) {
    out_ << "an unknown worker";
    return;
  }
  const Worker& worker = snapshot_.workers[index];
  workerName(worker);
  if (snapshot_.schedulers.size() > 1 && worker.scheduler < snapshot_.schedulers.size()) {
    out_ << " of scheduler ";
    out_.hex(snapshot_.schedulers[worker.scheduler].address);
  }
}

void Phrases::activity(const Worker& worker, nanoseconds sameTask) {
  switch (worker.state) {
    case Worker::State::Busy:
      running(worker, sameTask);
      break;
    case Worker::State::Searching:
      out_ << (worker.threadId != 0 ? "looks for work" : "has not begun");
      break;
    case Worker::State::Asleep:
      out_ << "sleeps";
      break;
  }
}

void Phrases::running(const Worker& worker, nanoseconds sameTask) {
  const Fiber* const fiber = snapshot_.runningOn(worker);
  if (fiber != nullptr && isOutsideOfTasks(*fiber)) {
    out_ << (worker.id < 0 ? "runs its own code" : "runs code outside of tasks");
  } else if (fiber == nullptr || fiber->task == 0) {
    out_ << "is between two tasks";
  } else {
    out_ << "runs ";
    if (sameTask.count() > 0) {
      out_ << "for at least ";
      writeDuration(out_, sameTask);
      out_ << ' ';
    }
    code(*fiber);
    out_ << " on fiber ";
    out_.decimal(fiber->id);
  }
}

void Phrases::ownWait(const Worker& worker) {
  if (const Fiber* const main = blockedMain(snapshot_, worker)) {
    out_ << (worker.id < 0 ? "; its own code" : "; its code outside of tasks");
    wait(*main);
  }
}

void Phrases::place(const Fiber& fiber) {
  worker(fiber.worker);
  out_ << ", fiber ";
  out_.decimal(fiber.id);
}

void Phrases::code(const Fiber& fiber) {
  if (fiber.task != 0) {
    out_ << "task ";
    names_.writeTask(out_, fiber.task);
  } else if (fiber.isMain) {
    out_ << "the code of ";
    worker(fiber.worker);
    if (fiber.worker < snapshot_.workers.size() && snapshot_.workers[fiber.worker].id >= 0) {
      out_ << " outside of tasks";
    }
  } else {
    out_ << "an unknown task";
  }
}

void Phrases::code(const FiberGroup& group) {
  const Fiber& first = snapshot_.fibers[group.first];
  if (group.numMembers > 1 && isOutsideOfTasks(first)) {
    out_ << "code outside of tasks";
  } else {
    code(first);
  }
}

void Phrases::codeAndPlace(const Fiber& fiber) {
  code(fiber);
  if (!isOutsideOfTasks(fiber)) {
    out_ << " (";
    place(fiber);
    out_ << ')';
  }
}

std::string_view Phrases::nameOf(const Fiber& fiber) const {
  return fiber.what < snapshot_.names.size() ? std::string_view(snapshot_.names[fiber.what])
                                             : "something unknown";
}

void Phrases::object(const Fiber& fiber) {
  const std::string_view what = nameOf(fiber);
  out_ << what;
  if (!hasObject(what, fiber.object)) {
    return;
  }
  if (isDescriptor(what)) {
    out_ << ", fd ";
    out_.decimal(static_cast<uint32_t>(fiber.object));
  } else {
    out_ << ' ';
    out_.hex(fiber.object);
  }
}

void Phrases::objectAndState(const Fiber& fiber) {
  object(fiber);
  const ObjectState& state = fiber.objectState;
  switch (state.kind) {
    case ObjectState::Kind::Unknown:
      break;
    case ObjectState::Kind::Count:
      (out_ << " (count ").grouped(state.count) << ')';
      break;
    case ObjectState::Kind::Arrivals:
      (out_ << " (").grouped(state.count) << " still to arrive)";
      break;
    case ObjectState::Kind::Event:
      out_ << " (not signalled, " << (state.isManual ? "Mode::Manual)" : "Mode::Auto)");
      break;
    case ObjectState::Kind::Readers:
      if (state.count != 0) {
        out_ << " (held by ";
        writeCount(out_, state.count, "reader");
        out_ << ')';
      }
      break;
    case ObjectState::Kind::Values:
      writeValues(out_, fiber, nameOf(fiber));
      break;
  }
}

void Phrases::wait(const Fiber& fiber) {
  if (isSleep(nameOf(fiber))) {
    out_ << " sleeps";
  } else {
    out_ << " waits for ";
    objectAndState(fiber);
  }
  writeSince(out_, fiber.blockedFor, fiber.blockedFor);
}

void Phrases::wait(const FiberGroup& group) {
  const Fiber& first = snapshot_.fibers[group.first];
  const std::string_view what = nameOf(first);
  if (isSleep(what)) {
    out_ << " sleep";
  } else if (group.numObjects == 1) {
    out_ << " wait for ";
    objectAndState(first);
  } else {
    out_ << " wait for " << what;
    if (hasObject(what, first.object)) {
      out_ << " (";
      out_.grouped(group.numObjects) << (isDescriptor(what) ? " descriptors)" : " different ones)");
    }
  }
  writeSince(out_, group.shortest, group.longest);
}

void Phrases::others(const FiberGroup& group) {
  if (group.numOthers == 0) {
    return;
  }
  out_ << "; ";
  writeCount(out_, group.numOthers, "more fiber");
  out_ << (group.numOthers == 1 ? " waits for " : " wait for ");
  if (group.numObjects == 1) {
    const std::string_view what = nameOf(snapshot_.fibers[group.first]);
    out_ << "this " << what.substr(0, what.find("::"));
  } else {
    out_ << "one of these objects";
  }
}

void Phrases::holder(const Fiber& fiber) {
  if (fiber.owner == 0 && fiber.holder == kNone) {
    return;
  }
  if (fiber.holder >= snapshot_.fibers.size()) {
    out_ << "; held by a thread or task that weft does not know";
    return;
  }
  const Fiber& holder = snapshot_.fibers[fiber.holder];
  if (&holder == &fiber) {
    out_ << "; held by the waiting fiber itself";
  } else if (holder.state == Fiber::State::Idle) {
    out_ << "; held by a task that has ended without unlocking it";
  } else {
    out_ << "; held by ";
    code(holder);
    if (!isOutsideOfTasks(holder)) {
      out_ << " on ";
      place(holder);
    }
    holdersDoing(holder);
  }
}

void Phrases::holdersDoing(const Fiber& holder) {
  if (holder.state == Fiber::State::Running) {
    out_ << ", which runs";
  } else if (holder.state == Fiber::State::Ready) {
    out_ << ", which may go on, and waits for its turn";
  } else if (isSleep(nameOf(holder))) {
    out_ << ", which sleeps";
  } else {
    out_ << ", which waits for ";
    objectAndState(holder);
    out_ << " itself";
  }
}

void Phrases::frames(std::span<const Address> frames, size_t most, std::string_view indent) {
  size_t next = 0;
  for (size_t line = 0; next < frames.size() && line < most; ++line) {
    const size_t begin = next;
    while (next < frames.size() && frames[next] == frames[begin]) {
      ++next;
    }
    out_ << indent;
    names_.writeFrame(out_, frames[begin]);
    if (next - begin > 1) {
      out_ << ", ";
      writeCount(out_, next - begin, "time");
    }
    out_ << '\n';
  }
  if (next < frames.size()) {
    out_ << indent << "and ";
    writeCount(out_, frames.size() - next, next == 0 ? "frame" : "more frame");
    out_ << '\n';
  }
}

std::span<const Address> Phrases::framesOfInterest(const Fiber& fiber) {
  const std::span<const Address> all = snapshot_.framesOf(fiber);
  const auto isOwn = [this](Address frame) { return !names_.isOfWeft(frame); };
  const auto begin = std::ranges::find_if(all, isOwn);
  if (begin == all.end()) {
    return all;
  }
  auto end = all.end();
  while (!isOwn(*(end - 1))) {
    --end;
  }
  return {begin == all.begin() ? begin : begin - 1, end};
}

Address Phrases::ownFrame(const Fiber& fiber) {
  const std::span<const Address> all = snapshot_.framesOf(fiber);
  const auto found = std::ranges::find_if(all, [this](Address frame) { return !names_.isOfWeft(frame); });
  return found == all.end() ? 0 : *found;
}

}  // namespace weft::inline v0_1::detail::inspect
