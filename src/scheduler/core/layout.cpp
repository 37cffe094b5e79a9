// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/layout.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "os/clock_reading.h"
#include "scheduler/core/layout.h"
#include "scheduler/core/scheduler_core.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/trace/recorder.h"
#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker.h"
#include "weft/barrier.h"
#include "weft/detail/channel/state.h"
#include "weft/event.h"
#include "weft/latch.h"
#include "weft/mutex.h"
#include "weft/sharedmutex.h"
#include "weft/version.h"
#include "weft/waitgroup.h"

// The compilers that weft is compiled with know the offsets of all members.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace weft::inline v0_1::detail {

// Where the members lie, also the private ones.
struct LayoutAccess {
  using Queue = SegmentedQueue<TaskNode*>;
  using Segment = Queue::Segment;
  using Deque = StealingDeque<TaskNode>;
  using BoundThread = SchedulerCore::BoundThread;
  using Slab = FiberFactory::Slab;

  static constexpr size_t kQueues = offsetof(Worker, tasks_);
  static constexpr size_t kDequeOfWorker =
      kQueues + offsetof(TaskQueues, stealable) + offsetof(StealableTasks, local);
  static constexpr size_t kHeap = offsetof(Worker, timers_) + offsetof(Timers, heap_);
  static constexpr size_t kIdler = offsetof(Worker, idler_);
  static constexpr size_t kPool = offsetof(Worker, pool_);
  static constexpr size_t kWaiter = offsetof(FiberControlBlock, waiter);
  static constexpr size_t kOs = offsetof(FiberControlBlock, os);
  static constexpr size_t kReading = kIdler + offsetof(Idler, lastReading_);

  static constexpr size_t kRing = offsetof(TraceThread, ring);

  static constexpr size_t kWordBits = offsetof(WaitWord<>, bits);

  static_assert(sizeof(SingleWriterCounter) == sizeof(uint64_t));

  // In memory that can be written, so that a core file holds them.
  static inline constinit inspect::LayoutEntry entries[] = {
      {"Clock.shift", kCoarseShift},
      {"Reading.ticks", offsetof(ClockReading, ticks)},
      {"Reading.nanoseconds", offsetof(ClockReading, nanoseconds)},
      {"Scheduler.listed", offsetof(SchedulerCore, listed_)},
      {"Listed.older", offsetof(ListedScheduler, older)},
      {"Scheduler.object", offsetof(SchedulerCore, scheduler)},
      {"Scheduler.numWorkers", offsetof(SchedulerCore, numWorkers)},
      {"Scheduler.workers", offsetof(SchedulerCore, workers)},
      {"Scheduler.firstBound", offsetof(SchedulerCore, firstBound_)},
      {"Scheduler.overflow", offsetof(SchedulerCore, overflow) + offsetof(TaskOverflow, size_)},
      {"Scheduler.tail", offsetof(SchedulerCore, injector) + offsetof(Queue, tail_)},
      {"Scheduler.oldest", offsetof(SchedulerCore, injector) + offsetof(Queue, oldest_)},
      {"Segment.size", BlockShape<62>::size()},
      {"Segment.lapShift", BlockShape<62>::lapShift()},
      {"Segment.index", offsetof(Segment, index)},
      {"Segment.begin", offsetof(Segment, begin)},
      {"Bound.worker", offsetof(BoundThread, worker)},
      {"Bound.next", offsetof(BoundThread, next)},
      {"Worker.size", sizeof(Worker)},
      {"Worker.id", offsetof(Worker, id_)},
      {"Worker.threadId", offsetof(Worker, threadId_)},
      {"Worker.lookedAt", offsetof(Worker, lookedAt_)},
      {"Worker.untilPoll", kDequeOfWorker + offsetof(LocalDeque, untilPoll)},
      {"Worker.lastReading", kReading},
      {"Worker.isIdle", kIdler + offsetof(Idler, isIdle_)},
      {"Worker.isParked", kIdler + offsetof(Idler, isParked_)},
      {"Worker.numParks", kIdler + offsetof(Idler, numParks_)},
      {"Worker.numSteals", offsetof(Worker, stealer_) + offsetof(Stealer, numSteals_)},
      {"Worker.current", offsetof(Worker, fibers_) + offsetof(FiberSwitch, current_)},
      {"Worker.main", offsetof(Worker, fibers_) + offsetof(FiberSwitch, main_)},
      {"Worker.mainScope", offsetof(Worker, fibers_) + offsetof(FiberSwitch, mainScope_)},
      {"Worker.slabs", kPool + offsetof(FiberPool, factory_) + offsetof(FiberFactory, slabs_)},
      {"Worker.numIdle", kPool + offsetof(FiberPool, numIdle_)},
      {"Worker.numReady", offsetof(Worker, ready_) + offsetof(ReadyFibers, size_)},
      {"Worker.numBlocked", offsetof(Worker, numBlocked_)},
      {"Worker.numEnded", kDequeOfWorker + offsetof(LocalDeque, counters) + offsetof(TaskCounters<>, ended_)},
      {"Worker.deque", kDequeOfWorker + offsetof(LocalDeque, deque)},
      {"Worker.pinnedLifo", kQueues + offsetof(TaskQueues, pinnedLifo_) + offsetof(TaskRing, size_)},
      {"Worker.pinnedFifo", kQueues + offsetof(TaskQueues, pinnedFifo_) + offsetof(TaskList, size_)},
      {"Worker.numTimers", kHeap + offsetof(TimerHeap<FiberControlBlock>, size_)},
      {"Worker.timers", kHeap + offsetof(TimerHeap<FiberControlBlock>, memory_) + offsetof(Allocation, ptr)},
      {"Worker.inbox", offsetof(Worker, inbox_)},
      {"Worker.letters", offsetof(Worker, mailbox_) + offsetof(Mailbox, letters_)},
      {"Letter.next", offsetof(Mailbox::Letter, inboxNext)},
      {"Deque.bottom", offsetof(Deque, bottom_)},
      {"Deque.top", offsetof(Deque, top_)},
      {"Slab.next", offsetof(Slab, next)},
      {"Slab.numUsed", offsetof(Slab, numUsed)},
      {"Slab.blocks", offsetof(Slab, blocks)},
      {"Slab.size", FiberFactory::kBlocksPerSlab},
      {"Fiber.size", sizeof(FiberControlBlock)},
      {"Fiber.taskNumber", offsetof(TaskScope, number)},
      {"Fiber.id", offsetof(FiberControlBlock, id)},
      {"Fiber.worker", offsetof(FiberControlBlock, worker)},
      {"Fiber.since", kWaiter + offsetof(Waiter, since)},
      {"Fiber.isQueued", offsetof(FiberControlBlock, isQueued)},
      {"Fiber.isWoken", offsetof(FiberControlBlock, isWoken)},
      {"Fiber.inboxNext", offsetof(FiberControlBlock, inboxNext)},
      {"Fiber.stackPointer", kOs + offsetof(OSFiber, sp)},
      {"Fiber.stackSize", kOs + offsetof(OSFiber, stackSize)},
      {"Fiber.stackBase", offsetof(FiberControlBlock, stackBase)},
      {"Fiber.blockedOn", offsetof(FiberControlBlock, blockedOn)},
      {"Fiber.blockedObject", offsetof(FiberControlBlock, blockedObject)},
      {"Fiber.task", offsetof(FiberControlBlock, task)},
      {"Fiber.deadline", offsetof(FiberControlBlock, deadline)},
      {"Fiber.timerIndex", offsetof(FiberControlBlock, timerIndex)},
      {"Timer.mostShift", std::countr_zero(TimerHeap<FiberControlBlock>::kMostItems)},
      {"mutex.owner", offsetof(mutex, owner_)},
      {"SharedMutex.owner", offsetof(SharedMutex, owner_)},
      {"SharedMutex.word", offsetof(SharedMutex, lock_) + offsetof(SharedLock<>, word_) +
                               offsetof(SharedWord<>, base_) + offsetof(WaitWord<uint64_t>, bits)},
      {"SharedMutex.readerShift", std::countr_zero(SharedWord<>::kReader)},
      {"WaitWord.shift", std::countr_zero(WaitWord<>::kState)},
      {"WaitGroup.word", offsetof(WaitGroup::State, core) + offsetof(WaitGroupCore<>, word_) + kWordBits},
      {"Latch.word", offsetof(Latch, core_) + offsetof(LatchCore<>, word_) + kWordBits},
      {"Barrier.word",
       offsetof(BarrierBase, phase_) + offsetof(BarrierPhase<>, word_) + offsetof(WaitWord<uint64_t>, bits)},
      {"Barrier.phaseShift", BarrierPhase<>::kPhaseShift},
      {"Event.isManual", offsetof(Event::State, core) + offsetof(EventCore<>, leftOfSignal_)},
      {"Recorder.newest", offsetof(Recorder, newest)},
      {"Recorder.reading", offsetof(Recorder, reading)},
      {"Recorder.startedAt", offsetof(Recorder, startedAt)},
      {"Recorder.stoppedAt", offsetof(Recorder, stoppedAt)},
      {"Recorder.numRefused", offsetof(Recorder, numRefused)},
      {"Trace.older", offsetof(TraceThread, older)},
      {"Trace.number", offsetof(TraceThread, number)},
      {"Trace.threadId", offsetof(TraceThread, threadId)},
      {"Trace.first", offsetof(TraceThread, first)},
      {"Trace.hasEnded", offsetof(TraceThread, hasEnded)},
      {"Trace.name", offsetof(TraceThread, name)},
      {"Trace.slots", kRing + offsetof(EventRing<>, slots_)},
      {"Trace.mask", kRing + offsetof(EventRing<>, mask_)},
      {"Trace.numWritten", kRing + offsetof(EventRing<>, numWritten_)},
      {"Channel.capacity", offsetof(ChannelState, capacity_)},
      {"Channel.tail", offsetof(ChannelState, tail_) + offsetof(ChannelSide<>, word_)},
      {"Channel.head", offsetof(ChannelState, head_) + offsetof(ChannelSide<>, word_)},
      {"Channel.shift", std::countr_zero(ChannelSide<>::kOne)},
      {"Channel.closed", ChannelSide<>::kClosed},
  };
};

// A core file holds it too. It is `used`, since -flto does not look into the assembly below.
[[gnu::used]] inspect::LayoutTable layoutTable = {
    {inspect::kLayoutMagic[0], inspect::kLayoutMagic[1], inspect::kLayoutMagic[2], inspect::kLayoutMagic[3],
     inspect::kLayoutMagic[4], inspect::kLayoutMagic[5], inspect::kLayoutMagic[6], inspect::kLayoutMagic[7]},
    inspect::kLayoutVersion,
    sizeof(inspect::LayoutEntry),
    std::size(LayoutAccess::entries),
    sizeof(void*),
    WEFT_VERSION_STRING,
    &newestScheduler,
    &firstClockReading,
    LayoutAccess::entries,
    &recorder,
};

}  // namespace weft::inline v0_1::detail

// The note that leads to the table, wherever the linker puts both.
asm(R"(
  .pushsection .note.weft, "a", %note
  .balign 4
  .long 5, 4, 1
  .asciz "weft"
  .balign 4
  .long weft_layout_table_0_1 - .
  .popsection
)");
