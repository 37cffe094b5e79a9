// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/offsets.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace weft::inline v0_1::detail::inspect {
namespace {

struct Field {
  std::string_view name;
  Address Offsets::* value;
};

constexpr Field kFields[] = {
    {"Clock.shift", &Offsets::clockShift},
    {"Reading.ticks", &Offsets::readingTicks},
    {"Reading.nanoseconds", &Offsets::readingNanoseconds},
    {"Scheduler.listed", &Offsets::schedulerListed},
    {"Listed.older", &Offsets::listedOlder},
    {"Scheduler.object", &Offsets::schedulerObject},
    {"Scheduler.numWorkers", &Offsets::schedulerNumWorkers},
    {"Scheduler.workers", &Offsets::schedulerWorkers},
    {"Scheduler.firstBound", &Offsets::schedulerFirstBound},
    {"Scheduler.overflow", &Offsets::schedulerOverflow},
    {"Scheduler.tail", &Offsets::schedulerTail},
    {"Scheduler.oldest", &Offsets::schedulerOldest},
    {"Segment.size", &Offsets::segmentSize},
    {"Segment.lapShift", &Offsets::segmentLapShift},
    {"Segment.index", &Offsets::segmentIndex},
    {"Segment.begin", &Offsets::segmentBegin},
    {"Bound.worker", &Offsets::boundWorker},
    {"Bound.next", &Offsets::boundNext},
    {"Worker.size", &Offsets::workerSize},
    {"Worker.id", &Offsets::workerId},
    {"Worker.threadId", &Offsets::workerThreadId},
    {"Worker.lookedAt", &Offsets::workerLookedAt},
    {"Worker.untilPoll", &Offsets::workerUntilPoll},
    {"Worker.lastReading", &Offsets::workerLastReading},
    {"Worker.isIdle", &Offsets::workerIsIdle},
    {"Worker.isParked", &Offsets::workerIsParked},
    {"Worker.numParks", &Offsets::workerNumParks},
    {"Worker.numSteals", &Offsets::workerNumSteals},
    {"Worker.current", &Offsets::workerCurrent},
    {"Worker.main", &Offsets::workerMain},
    {"Worker.mainScope", &Offsets::workerMainScope},
    {"Worker.slabs", &Offsets::workerSlabs},
    {"Worker.numEnded", &Offsets::workerNumEnded},
    {"Worker.deque", &Offsets::workerDeque},
    {"Worker.pinnedLifo", &Offsets::workerPinnedLifo},
    {"Worker.pinnedFifo", &Offsets::workerPinnedFifo},
    {"Worker.numTimers", &Offsets::workerNumTimers},
    {"Worker.timers", &Offsets::workerTimers},
    {"Worker.inbox", &Offsets::workerInbox},
    {"Worker.letters", &Offsets::workerLetters},
    {"Letter.next", &Offsets::letterNext},
    {"Deque.bottom", &Offsets::dequeBottom},
    {"Deque.top", &Offsets::dequeTop},
    {"Slab.next", &Offsets::slabNext},
    {"Slab.numUsed", &Offsets::slabNumUsed},
    {"Slab.blocks", &Offsets::slabBlocks},
    {"Slab.size", &Offsets::slabSize},
    {"Fiber.size", &Offsets::fiberSize},
    {"Fiber.taskNumber", &Offsets::fiberTaskNumber},
    {"Fiber.id", &Offsets::fiberId},
    {"Fiber.worker", &Offsets::fiberWorker},
    {"Fiber.since", &Offsets::fiberSince},
    {"Fiber.isQueued", &Offsets::fiberIsQueued},
    {"Fiber.isWoken", &Offsets::fiberIsWoken},
    {"Fiber.inboxNext", &Offsets::fiberInboxNext},
    {"Fiber.stackPointer", &Offsets::fiberStackPointer},
    {"Fiber.stackSize", &Offsets::fiberStackSize},
    {"Fiber.stackBase", &Offsets::fiberStackBase},
    {"Fiber.blockedOn", &Offsets::fiberBlockedOn},
    {"Fiber.blockedObject", &Offsets::fiberBlockedObject},
    {"Fiber.task", &Offsets::fiberTask},
    {"Fiber.deadline", &Offsets::fiberDeadline},
    {"Fiber.timerIndex", &Offsets::fiberTimerIndex},
    {"Timer.mostShift", &Offsets::timerMostShift},
    {"mutex.owner", &Offsets::mutexOwner},
    {"SharedMutex.owner", &Offsets::sharedMutexOwner},
    {"SharedMutex.word", &Offsets::sharedMutexWord},
    {"SharedMutex.readerShift", &Offsets::sharedMutexReaderShift},
    {"WaitWord.shift", &Offsets::waitWordShift},
    {"WaitGroup.word", &Offsets::waitGroupWord},
    {"Latch.word", &Offsets::latchWord},
    {"Barrier.word", &Offsets::barrierWord},
    {"Barrier.phaseShift", &Offsets::barrierPhaseShift},
    {"Event.isManual", &Offsets::eventIsManual},
    {"Recorder.newest", &Offsets::recorderNewest},
    {"Recorder.reading", &Offsets::recorderReading},
    {"Recorder.startedAt", &Offsets::recorderStartedAt},
    {"Recorder.stoppedAt", &Offsets::recorderStoppedAt},
    {"Recorder.numRefused", &Offsets::recorderNumRefused},
    {"Trace.older", &Offsets::traceOlder},
    {"Trace.number", &Offsets::traceNumber},
    {"Trace.threadId", &Offsets::traceThreadId},
    {"Trace.first", &Offsets::traceFirst},
    {"Trace.hasEnded", &Offsets::traceHasEnded},
    {"Trace.name", &Offsets::traceName},
    {"Trace.slots", &Offsets::traceSlots},
    {"Trace.mask", &Offsets::traceMask},
    {"Trace.numWritten", &Offsets::traceNumWritten},
    {"Channel.capacity", &Offsets::channelCapacity},
    {"Channel.tail", &Offsets::channelTail},
    {"Channel.head", &Offsets::channelHead},
    {"Channel.shift", &Offsets::channelShift},
    {"Channel.closed", &Offsets::channelClosed},
};

constexpr uint32_t kMostTableEntries = 1024;
// No value is as large: a table that says otherwise is damaged.
constexpr uint64_t kMostValue = uint64_t{1} << 20;

bool isHeaderRight(const LayoutTable& table) {
  return table.entrySize == sizeof(LayoutEntry) && table.pointerSize == sizeof(void*) &&
         table.numEntries <= kMostTableEntries;
}

// Sets each field that an entry names. Returns: how many.
size_t takeEntries(const Memory& memory, const LayoutTable& table, Offsets& offsets) {
  size_t numFound = 0;
  for (uint32_t i = 0; i < table.numEntries; ++i) {
    LayoutEntry entry;
    if (!memory.get(reinterpret_cast<Address>(table.entries) + i * sizeof entry, entry)) {
      return 0;
    }
    const std::string_view name(entry.name, strnlen(entry.name, sizeof entry.name));
    const auto* field = std::ranges::find(kFields, name, &Field::name);
    if (field != std::end(kFields) && entry.value <= kMostValue) {
      offsets.*field->value = static_cast<Address>(entry.value);
      ++numFound;
    }
  }
  return numFound;
}

// A reader allocates by these, divides by them, and shifts by them.
bool areSizesRight(const Offsets& offsets) {
  return offsets.workerSize >= sizeof(uint64_t) && offsets.fiberSize >= sizeof(uint64_t) &&
         offsets.slabSize != 0 && offsets.slabSize <= 4096 && offsets.clockShift < 32 &&
         offsets.segmentSize != 0 && offsets.segmentLapShift < 32 && offsets.sharedMutexReaderShift < 64 &&
         offsets.waitWordShift < 32 && offsets.barrierPhaseShift < 64 && offsets.channelShift < 64;
}

}  // namespace

TableState readOffsets(const Memory& memory, Address table, Offsets& offsets, char (&release)[16]) {
  LayoutTable found;
  if (!memory.get(table, found) || std::memcmp(found.magic, kLayoutMagic, sizeof found.magic) != 0) {
    return TableState::NoTable;
  }
  std::memcpy(release, found.release, sizeof release);
  release[sizeof release - 1] = '\0';
  if (found.version != kLayoutVersion) {
    return TableState::OtherVersion;
  }
  offsets.schedulers = reinterpret_cast<Address>(found.schedulers);
  offsets.firstReading = reinterpret_cast<Address>(found.firstReading);
  offsets.recorder = reinterpret_cast<Address>(found.recorder);
  const bool isGood = isHeaderRight(found) && takeEntries(memory, found, offsets) == std::size(kFields) &&
                      areSizesRight(offsets);
  return isGood ? TableState::Good : TableState::Incomplete;
}

}  // namespace weft::inline v0_1::detail::inspect
