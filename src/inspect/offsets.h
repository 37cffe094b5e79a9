// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "inspect/layout.h"
#include "inspect/memory.h"

namespace weft::inline v0_1::detail::inspect {

// What a LayoutTable says, by name: offsets in bytes, sizes, constants.
struct Offsets {
  Address schedulers = 0;    // of the head of the list
  Address firstReading = 0;  // of the clocks
  Address recorder = 0;      // of the flight recorder
  Address clockShift = 0;
  Address readingTicks = 0, readingNanoseconds = 0;
  Address schedulerListed = 0, listedOlder = 0, schedulerObject = 0, schedulerNumWorkers = 0,
          schedulerWorkers = 0, schedulerFirstBound = 0, schedulerOverflow = 0, schedulerTail = 0,
          schedulerOldest = 0;
  Address segmentSize = 0, segmentLapShift = 0, segmentIndex = 0, segmentBegin = 0;
  Address boundWorker = 0, boundNext = 0;
  Address workerSize = 0, workerId = 0, workerThreadId = 0, workerLookedAt = 0, workerUntilPoll = 0,
          workerLastReading = 0, workerIsIdle = 0, workerIsParked = 0, workerNumParks = 0,
          workerNumSteals = 0, workerCurrent = 0, workerMain = 0, workerMainScope = 0, workerSlabs = 0,
          workerNumEnded = 0, workerDeque = 0, workerPinnedLifo = 0, workerPinnedFifo = 0,
          workerNumTimers = 0, workerTimers = 0, workerInbox = 0, workerLetters = 0, letterNext = 0;
  Address dequeBottom = 0, dequeTop = 0;
  Address slabNext = 0, slabNumUsed = 0, slabBlocks = 0, slabSize = 0;
  Address fiberSize = 0, fiberTaskNumber = 0, fiberId = 0, fiberWorker = 0, fiberSince = 0, fiberIsQueued = 0,
          fiberIsWoken = 0, fiberInboxNext = 0, fiberStackPointer = 0, fiberStackSize = 0, fiberStackBase = 0,
          fiberBlockedOn = 0, fiberBlockedObject = 0, fiberTask = 0, fiberDeadline = 0, fiberTimerIndex = 0,
          timerMostShift = 0;
  Address mutexOwner = 0, sharedMutexOwner = 0, sharedMutexWord = 0, sharedMutexReaderShift = 0;
  Address waitWordShift = 0, waitGroupWord = 0, latchWord = 0, barrierWord = 0, barrierPhaseShift = 0,
          eventIsManual = 0;
  Address recorderNewest = 0, recorderReading = 0, recorderStartedAt = 0, recorderStoppedAt = 0,
          recorderNumRefused = 0;
  Address traceOlder = 0, traceNumber = 0, traceThreadId = 0, traceFirst = 0, traceHasEnded = 0,
          traceName = 0, traceSlots = 0, traceMask = 0, traceNumWritten = 0;
  Address channelCapacity = 0, channelTail = 0, channelHead = 0, channelShift = 0, channelClosed = 0;
};

enum class TableState : uint8_t {
  Good,
  NoTable,       // what lies there is no LayoutTable
  OtherVersion,  // its version is not this reader's
  Incomplete,    // a name is missing, or its value makes no sense
};

// Reads the table at `table`. With OtherVersion, `release` is set nevertheless.
TableState readOffsets(const Memory& memory, Address table, Offsets& offsets, char (&release)[16]);

}  // namespace weft::inline v0_1::detail::inspect
