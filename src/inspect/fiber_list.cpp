// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/fiber_list.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "inspect/lock_cycles.h"
#include "inspect/phrases.h"
#include "inspect/report.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// Of the columns but for the last one.
constexpr size_t kWorkerWidth = 18;
constexpr size_t kFiberWidth = 6;
constexpr size_t kStateWidth = 5;
constexpr size_t kSinceWidth = 8;
constexpr size_t kLeastWaitWidth = 32;
constexpr size_t kMostWaitWidth = 80;  // fits most objects with their states

// Calls write(Text&) for a text that goes to `out`, unless that is null. Returns: the number of characters.
template <class Write>
size_t writeCounted(Text* out, const Write& write) {
  struct Counted {
    Text* out;
    size_t size = 0;
  } counted{out};
  Text text(
      [](void* context, const char* piece, size_t size) {
        auto& to = *static_cast<Counted*>(context);
        to.size += size;
        if (to.out != nullptr) {
          *to.out << std::string_view(piece, size);
        }
      },
      &counted);
  write(text);
  text.flush();
  return counted.size;
}

// Calls write(Text&), and fills the column with spaces. What is longer than the column moves the next one.
template <class Write>
void writeColumn(Text& out, size_t width, const Write& write) {
  for (size_t i = writeCounted(&out, write); i < width; ++i) {
    out << ' ';
  }
  out << "  ";
}

void writeWord(Text& out, size_t width, std::string_view text) {
  writeColumn(out, width, [text](Text& column) { column << text; });
}

std::string_view stateName(Fiber::State state) {
  switch (state) {
    case Fiber::State::Running:
      return "runs";
    case Fiber::State::Blocked:
      return "waits";
    case Fiber::State::Ready:
      return "ready";
    case Fiber::State::Idle:
      break;
  }
  return "idle";
}

// The thread of a worker has code of its own at its begin and end only, unless that waits.
bool isListed(const Snapshot& snapshot, const Fiber& fiber) {
  if (fiber.state == Fiber::State::Idle || fiber.state == Fiber::State::Blocked || fiber.task != 0) {
    return fiber.state != Fiber::State::Idle;
  }
  const bool isOfWorkerThread =
      fiber.worker >= snapshot.workers.size() || snapshot.workers[fiber.worker].id >= 0;
  return !isOfWorkerThread && fiber.isMain;
}

// Returns: the width that fits what fibers wait for, but for what is longer than the most.
size_t measureWaits(const Snapshot& snapshot, Names& names) {
  size_t width = kLeastWaitWidth;
  for (const Fiber& fiber : snapshot.fibers) {
    if (fiber.state == Fiber::State::Blocked) {
      const size_t size =
          writeCounted(nullptr, [&](Text& text) { Phrases(text, snapshot, names).objectAndState(fiber); });
      width = std::max(width, size <= kMostWaitWidth ? size : 0);
    }
  }
  return width;
}

void writeFiberLine(Text& out, const Snapshot& snapshot, const Fiber& fiber, size_t waitWidth, Names& names) {
  const bool isBlocked = fiber.state == Fiber::State::Blocked;
  writeColumn(out, kWorkerWidth,
              [&](Text& column) { Phrases(column, snapshot, names).worker(fiber.worker); });
  writeColumn(out, kFiberWidth, [&](Text& column) { column.decimal(fiber.id); });
  writeWord(out, kStateWidth, stateName(fiber.state));
  writeColumn(out, kSinceWidth, [&](Text& column) {
    if (isBlocked) {
      writeDuration(column, fiber.blockedFor);
    } else {
      column << '-';
    }
  });
  writeColumn(out, waitWidth, [&](Text& column) {
    if (isBlocked) {
      Phrases(column, snapshot, names).objectAndState(fiber);
    } else {
      column << '-';
    }
  });
  if (fiber.task != 0) {
    names.writeTask(out, fiber.task);
  } else {
    out << "(own code)";
  }
  if (isBlocked) {
    Phrases(out, snapshot, names).holder(fiber);
  }
  out << '\n';
}

}  // namespace

void writeFibers(Text& out, const Snapshot& snapshot, Names& names) {
  writeCycles(out, snapshot, findCycles(snapshot, snapshot.fibers.get_allocator().resource()), names);
  const size_t waitWidth = measureWaits(snapshot, names);
  writeWord(out, kWorkerWidth, "WORKER");
  writeWord(out, kFiberWidth, "FIBER");
  writeWord(out, kStateWidth, "STATE");
  writeWord(out, kSinceWidth, "SINCE");
  writeWord(out, waitWidth, "WAITS FOR");
  out << "TASK\n";
  uint64_t numIdle = 0;
  for (const Fiber& fiber : snapshot.fibers) {
    numIdle += fiber.state == Fiber::State::Idle && !fiber.isMain;
    if (isListed(snapshot, fiber)) {
      writeFiberLine(out, snapshot, fiber, waitWidth, names);
    }
  }
  if (numIdle != 0) {
    writeCount(out, numIdle, "more fiber");
    out << (numIdle == 1 ? " has no task, and is kept for the next one\n"
                         : " have no task, and are kept for the next ones\n");
  }
}

void writeBacktrace(Text& out, const Snapshot& snapshot, uint32_t fiberIndex, Names& names) {
  const Fiber& fiber = snapshot.fibers[fiberIndex];
  Phrases phrases(out, snapshot, names);
  if (fiber.state == Fiber::State::Idle) {
    phrases.place(fiber);
    out << ", has no task\n";
    return;
  }
  phrases.codeAndPlace(fiber);
  if (fiber.state == Fiber::State::Blocked) {
    phrases.wait(fiber);
    phrases.holder(fiber);
  } else {
    out << (fiber.state == Fiber::State::Running ? " runs" : " may go on, and waits for its turn");
  }
  out << '\n';
  const auto frames = snapshot.framesOf(fiber);
  for (size_t i = 0, next = 0; i < frames.size(); i = next) {
    while (next < frames.size() && frames[next] == frames[i]) {
      ++next;
    }
    out << "  #";
    out.decimal(i) << (i < 10 ? "  " : " ");
    names.writeFrame(out, frames[i]);
    if (next - i > 1) {
      out << ", ";
      writeCount(out, next - i, "time");
    }
    out << '\n';
  }
  if (fiber.hasMoreFrames) {
    out << "  ... and more: a debugger shows them\n";
  }
  if (frames.empty() && fiber.isSwitchedByUcontext) {
    out << "  no backtrace: this build uses ucontext (WEFT_UCONTEXT)\n";
  } else if (frames.empty()) {
    out << (fiber.state == Fiber::State::Running ? "  no backtrace, because its stack changes\n"
                                                 : "  no backtrace could be read\n");
  }
}

}  // namespace weft::inline v0_1::detail::inspect
