// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "inspect/trace_events.h"
#include "os/clock_reading.h"
#include "scheduler/trace/event_ring.h"
#include "scheduler/trace/late_watch.h"
#include "weft/detail/base/ticks.h"
#include "weft/trace.h"

// The flight recorder: which threads have recorded what. See weft::trace::start().
//
// Nothing on a hot path asks whether events are recorded. A worker follows the recorder at its polls: while
// it is recorded, it calls other functions, through pointers through which it calls in any case, and some
// comparisons that it makes anyway turn out unlike: see Worker::followWishes().
namespace weft::inline v0_1::detail {

using inspect::TraceEvent;
using inspect::TraceKind;

// A thread that has recorded something, with its ring behind it in memory. Its own thread writes.
struct TraceThread {
  TraceThread(EventRing<>::Slot* slots, uint64_t capacity, uint32_t itsNumber)
      : ring(slots, capacity), number(itsNumber) {}

  // A reading of ticks() takes as long as all else that a short task needs to be recorded. So a task that
  // follows at once begins at the time of the event before: the end of a task, or the switch to a fiber that
  // has none. That end waits to be told: the two become one event, TaskFollowed. Where anything else comes
  // first, the end is told by itself, at its own time.
  //
  // To follow at once is to take at most one dequeue, and no poll. `untilNext` tells: it is one more than
  // LocalDeque::untilPoll will be then; 0: no reading is kept. Nothing of the program runs while one is kept.
  void keep(TraceKind next, uint64_t now, uint32_t untilNextTask) {
    nextHead = TraceEvent::headOf(next, now);
    untilNext = untilNextTask;
  }
  // That task begins. Requires: untilNext != 0.
  void addNext(const void* code) {
    untilNext = 0;
    ring.write(nextHead, reinterpret_cast<uintptr_t>(code));
  }
  // Before any other event: the end of a task is one of its own then.
  void settle() {
    if (TraceEvent{nextHead}.kind() == TraceKind::TaskFollowed) {
      ring.write(TraceEvent::headOf(TraceKind::TaskEnded, TraceEvent{nextHead}.ticks()), 0);
    }
    untilNext = 0;
  }

  EventRing<> ring;
  // TaskFollowed, if a task has ended of which the ring does not tell yet; else TaskBegan.
  uint64_t nextHead = 0;
  uint32_t untilNext = 0;
  TraceThread* older = nullptr;  // in the recorder's list
  const uint32_t number;         // unique, from 1
  // What follows changes when a new thread gets the ring of one that has ended. relaxed: for who looks from
  // outside, who may see a part of both.
  std::atomic<int32_t> threadId{0};
  std::atomic<uint64_t> first{0};  // the number of the thread's first event
  std::atomic<bool> hasEnded{false};
  char name[16] = {};  // the system's name of the thread, with a zero byte
};

// The recorder's state, of which there is one.
struct Recorder {
  // Writers of `newest` and `numRefused` hold it.
  std::mutex mutex;
  std::atomic<TraceThread*> newest{nullptr};  // of the list of all; none is ever removed
  uint64_t capacity = 0;                      // of new rings, in events
  ClockReading reading;                       // at the first start
  // relaxed, all: for who reads the rings.
  std::atomic<uint64_t> startedAt{0};   // ticks(); 0: never
  std::atomic<uint64_t> stoppedAt{0};   // 0: not since
  std::atomic<uint64_t> numRefused{0};  // threads for which there was no memory
};
extern constinit Recorder recorder;

// The calling thread's; null before its first event.
extern constinit thread_local TraceThread* ownTraceThread;

// Returns: the calling thread's, made if there was none; null if the system gives no memory.
TraceThread* openTraceThread() noexcept;
inline TraceThread* traceThread() noexcept {
  return ownTraceThread != nullptr ? ownTraceThread : openTraceThread();
}

using trace::isRecording;

// Events of the calling thread that happen at the same time. Requires: nothing else of the thread records
// meanwhile.
class TraceEvents {
 public:
  TraceEvents() : TraceEvents(traceThread(), ticks()) {
    if (thread_ != nullptr && thread_->untilNext != 0) [[unlikely]] {
      thread_->settle();
    }
  }

  TraceEvents& add(TraceKind kind, uint64_t operand = 0) {
    if (thread_ != nullptr) [[likely]] {
      thread_->ring.write(TraceEvent::headOf(kind, now_), operand);
    }
    return *this;
  }
  TraceEvents& add(TraceKind kind, const void* operand) {
    return add(kind, reinterpret_cast<uintptr_t>(operand));
  }
  // Text in events of its own, at most `inspect::kMostTraceText` bytes.
  TraceEvents& addText(const char* text) noexcept;

  uint64_t now() const { return now_; }

  // The next task may begin at this time: see TraceThread::keep().
  void keepReading(uint32_t untilNext) {
    if (thread_ != nullptr) [[likely]] {
      thread_->keep(TraceKind::TaskBegan, now_, untilNext);
    }
  }

 private:
  TraceEvents(TraceThread* thread, uint64_t now) : thread_(thread), now_(now) {}

  TraceThread* const thread_;
  const uint64_t now_;
};

// For what is on no hot path.
template <class Operand = uint64_t>
void record(TraceKind kind, Operand operand = {}) {
  if (isRecording()) [[unlikely]] {
    TraceEvents().add(kind, operand);
  }
}

}  // namespace weft::inline v0_1::detail
