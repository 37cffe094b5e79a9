// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

// What the flight recorder writes: the events of each thread in a ring of its own, in the order of time. The
// library writes them (scheduler/trace), and inspect reads them, in the process or from outside.
namespace weft::inline v0_1::detail::inspect {

// What has happened, and what the event's operand says of it. An address of text is that of a string which
// lives as long as the process.
enum class TraceKind : uint8_t {
  None = 0,

  // The thread has become one of a scheduler's, and runs its own code there, as fiber 0. The operand is the
  // worker's number plus one; 0 for a bound thread. ThreadUnbound ends that.
  ThreadBound,
  ThreadUnbound,

  // Of tasks. They run on the fiber on which the thread is.
  TaskBegan,     // the address of its code
  TaskNamed,     // after TaskBegan or TaskFollowed: the address of a text
  TaskEnded,     // 0
  InPlaceBegan,  // a task on top of the one that waits for it: the address of its code
  InPlaceEnded,  // 0
  Stole,         // the address of the code of a task that was taken from another worker

  // The thread leaves its fiber. The operand is the address of the text that says for what the fiber waits;
  // 0 if it only lets others run, or has no task any more.
  FiberLeft,
  WaitsFor,      // after FiberLeft or IdleBegan: the address of the object
  FiberResumed,  // the thread is on another fiber: its number, unique among those of the thread
  TaskResumed,   // after FiberResumed, if a task goes on there: the address of its code
  // The thread has made a fiber ready: withFiber() of the number of that fiber's thread (its TraceThread).
  Woke,
  TimerFired,  // the time of a fiber has come: withFiber() of how many microseconds ago

  // The thread has nothing to run. IdleBegan has FiberLeft's operand, for the fiber on whose stack it stays.
  // After IdleEnded, FiberResumed says with which fiber it goes on, or TaskBegan with which task.
  IdleBegan,
  IdleEnded,
  Parked,    // the thread sleeps
  Unparked,  // 1: woken; 0: its time has come
  SearchBegan,
  SearchEnded,  // 1: it has found something

  // What the program says. A name is the address of a text, or 0: then it follows in Text.
  ScopeBegan,    // a name
  ScopeEnded,    // 0
  Mark,          // a name
  CounterNamed,  // a name; CounterValue follows
  CounterValue,  // a double
  AsyncBegan,    // a number that pairs it with its end; a name follows in Text
  AsyncEnded,    // as for AsyncBegan
  TrackNamed,    // 0: a name for the fiber, or for the thread outside of fibers, follows in Text
  // Up to 15 bytes of text, which ends with a zero byte: seven above the kind, and eight in the operand. No
  // time. A text of 15 bytes without a zero goes on in the next event.
  Text,

  StepBegan,  // of a weft::fair task: the address of its code
  StepEnded,  // 0

  // Stands for TaskEnded and TaskBegan at one time, on one fiber: a task ends, and the next one begins at
  // once. The address of the next one's code.
  TaskFollowed,
};
inline constexpr TraceKind kLastTraceKind = TraceKind::TaskFollowed;

// The bytes of a text that are kept, in Text or of a text at an address. The rest is cut off.
inline constexpr size_t kMostTraceText = 256;

// A ring has no more events.
inline constexpr uint64_t kMostTraceEvents = uint64_t{1} << 28;

// An operand of two numbers: that of a fiber in the lower half, and another one in the upper half.
constexpr uint64_t withFiber(uint64_t upper, uint32_t fiber) { return upper << 32 | fiber; }
constexpr uint32_t fiberIn(uint64_t operand) { return static_cast<uint32_t>(operand); }
constexpr uint64_t upperIn(uint64_t operand) { return operand >> 32; }

struct TraceEvent {
  static constexpr int kTimeShift = 8;

  uint64_t head = 0;  // ticks() above the kind
  uint64_t operand = 0;

  TraceKind kind() const { return static_cast<TraceKind>(head & 0xff); }
  // The upper byte of ticks() is lost. It is zero until a machine has run for months.
  uint64_t ticks() const { return head >> kTimeShift; }
  static uint64_t headOf(TraceKind kind, uint64_t ticks) {
    return ticks << kTimeShift | static_cast<uint64_t>(kind);
  }
};

// Of a ring of `capacity` events whose writer had written `numWritten` after the events were read: the number
// of the oldest event that was read whole. The next event may be half written over the one before it.
constexpr uint64_t firstIntact(uint64_t numWritten, uint64_t capacity) {
  return numWritten < capacity ? 0 : numWritten - capacity + 1;
}

}  // namespace weft::inline v0_1::detail::inspect
