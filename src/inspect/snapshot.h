// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "inspect/memory.h"
#include "os/clock_reading.h"

// What the schedulers of a process did at some time: plain data, the same for a dump in the process, for the
// program `weft`, and for the watchdog. All memory comes from the resource that the Snapshot is made with.
namespace weft::inline v0_1::detail::inspect {

inline constexpr uint32_t kNone = ~uint32_t{0};  // in place of an index

// What an object holds that a fiber waits for. Others may change it while it is read, so a number may be one
// that the object had a moment ago.
struct ObjectState {
  enum class Kind : uint8_t {
    Unknown,
    Count,     // WaitGroup, Latch: calls are missing
    Arrivals,  // Barrier: arrivals are missing
    Event,
    Readers,  // SharedMutex: readers hold it
    Values,   // Channel: values are in it
  };

  Kind kind = Kind::Unknown;
  bool isManual = false;  // Event
  bool isClosed = false;  // Channel
  uint64_t count = 0;
  uint64_t capacity = 0;  // Channel
};

// What is read of the tasks that others have placed on a worker, and that it has not looked at yet.
enum class Letters : uint8_t {
  Counted,  // their number, which takes a read or two for each
  Noticed,  // whether there are any
};

struct Fiber {
  enum class State : uint8_t {
    Running,  // its worker's thread is on it
    Blocked,  // waits for `object`
    Ready,    // may go on, and waits for its turn
    Idle,     // has no task, and is kept for the next one
  };

  Address address = 0;  // of its control block
  Address scope = 0;    // of the TaskScope by which locks know its task
  uint32_t id = 0;      // unique among the fibers of its worker
  uint32_t worker = kNone;
  State state = State::Idle;
  bool isMain = false;          // runs the thread's own code, on the thread's own stack
  bool isLastOfWorker = false;  // the worker's thread sleeps, or looks for work, on its stack
  Address task = 0;             // the code of its task, or 0
  uint64_t taskNumber = 0;
  uint32_t what = kNone;  // Blocked: index in Snapshot::names of what it waits for, such as "Event"
  Address object = 0;     // Blocked: which one; for what begins with "io::", the descriptor
  ObjectState objectState;
  uint32_t numWaiters = 0;   // Blocked: fibers that wait for `object`, this one too; 0: not known
  uint32_t numOpposite = 0;  // those of them that wait in the other one of Channel::send and receive
  std::chrono::nanoseconds blockedFor{};  // Blocked: at least so long
  Address owner = 0;                      // waits for a lock: the TaskScope that holds it, or 0
  uint32_t holder = kNone;                // index of the fiber whose task that is; kNone: none, or unknown
  Address stackPointer = 0;               // where it was suspended
  Address stackBase = 0;                  // 0: the thread's own stack
  Address stackTop = 0;
  uint32_t firstFrame = 0;  // the return addresses of its backtrace: Snapshot::frames, innermost first
  uint32_t numFrames = 0;
  bool isSwitchedByUcontext = false;  // so that it has no frames: see kUcontextMark
  bool hasMoreFrames = false;         // the backtrace ends at a limit, and not at the outermost call
};

// Returns: whether the fiber is of the code of its thread, and has no task.
inline bool isOutsideOfTasks(const Fiber& fiber) { return fiber.isMain && fiber.task == 0; }

struct Worker {
  enum class State : uint8_t { Busy, Searching, Asleep };

  Address address = 0;
  uint32_t scheduler = kNone;
  int32_t id = -1;       // of a worker thread; -1: of a bound thread
  int32_t threadId = 0;  // the system's
  State state = State::Busy;
  uint32_t running = kNone;  // the fiber that its thread is on
  // Busy: its thread has looked after other fibers so long ago.
  std::chrono::nanoseconds busyFor{};
  uint64_t turn = 0;       // changes each time its thread looks for what to run next
  uint64_t numReady = 0;   // fibers
  uint64_t numQueued = 0;  // tasks
  uint64_t numPinned = 0;  // those of them that only its thread may run
  // false: both count as one the tasks that others have placed on it, and that it has not looked at yet
  bool areLettersCounted = true;
  uint64_t numBlocked = 0;  // fibers
  uint64_t numIdle = 0;     // fibers
  uint64_t numTasksRun = 0;
  uint64_t numSteals = 0;
  uint64_t numParks = 0;
  uint32_t numTimers = 0;
  std::chrono::nanoseconds untilTimer{};  // numTimers > 0: to the earliest; below zero: it is due
  uint32_t firstFiber = 0;
  uint32_t numFibers = 0;
};

struct Scheduler {
  Address address = 0;  // of the weft::Scheduler
  uint64_t numInjected = 0;
  uint32_t firstWorker = 0;  // the worker threads first, then the bound threads
  uint32_t numWorkers = 0;
};

struct Snapshot {
  explicit Snapshot(std::pmr::memory_resource* memory)
      : schedulers(memory), workers(memory), fibers(memory), frames(memory), names(memory), program(memory) {}

  std::pmr::vector<Scheduler> schedulers;
  std::pmr::vector<Worker> workers;
  std::pmr::vector<Fiber> fibers;  // a worker's main fiber first
  std::pmr::vector<Address> frames;
  std::pmr::vector<std::pmr::string> names;
  std::pmr::string program;  // the path of its file; empty: not known
  int32_t processId = 0;
  // Of the clocks of the process, the second when it was read: together they tell how fast ticks() runs.
  ClockReading firstReading;
  ClockReading lastReading;
  int64_t time = 0;        // when it was read, in seconds since 1970 in UTC; 0: not known
  bool isComplete = true;  // false: some of it could not be read, or changed while it was

  // Returns: the fiber that the worker's thread is on, or null if that is not known.
  const Fiber* runningOn(const Worker& worker) const {
    return worker.running < fibers.size() ? &fibers[worker.running] : nullptr;
  }
  std::span<const Address> framesOf(const Fiber& fiber) const {
    return std::span(frames).subspan(fiber.firstFrame, fiber.numFrames);
  }
};

}  // namespace weft::inline v0_1::detail::inspect
