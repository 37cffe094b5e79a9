// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/snapshot_reader.h"

#include <time.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "inspect/fiber_index.h"
#include "inspect/lock_cycles.h"
#include "inspect/object_waiters.h"
#include "inspect/scheduler_walk.h"
#include "inspect/stack_reader.h"
#include "inspect/worker_reader.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

class SnapshotReader {
 public:
  SnapshotReader(const Memory& memory, const Offsets& offsets, const Now& now, Letters letters,
                 Snapshot& snapshot)
      : memory_(memory),
        offsets_(offsets),
        snapshot_(snapshot),
        walk_(memory, offsets, snapshot),
        seen_(snapshot.fibers.get_allocator().resource()),
        workers_(memory, offsets, letters, snapshot, seen_) {
    const ClockReading last = now.clock.nanoseconds != 0 ? now.clock : walk_.newestReading();
    snapshot.firstReading = walk_.firstReading();
    snapshot.lastReading = last;
    workers_.setTime(walk_.clock(last), last.nanoseconds);
  }

  void read(Unwinder* unwinder, Address only) {
    const size_t firstFiber = snapshot_.fibers.size();
    // What was read before, from another copy of weft, was seen by another reader.
    seen_.resize(firstFiber);
    for (const Address core : walk_.cores()) {
      const auto object = walk_.get<Address>(core + offsets_.schedulerObject);
      if (only == 0 || object == only) {
        readScheduler(core, object);
      }
    }
    FiberIndex index(snapshot_);
    workers_.markWoken(index);
    countFibers(firstFiber);
    if (unwinder != nullptr) {
      StackReader(memory_, offsets_, *unwinder, snapshot_).read(firstFiber, seen_, workers_);
    }
    findHolders(firstFiber, index);
    dropPassingCycles(firstFiber);
    countWaiters(snapshot_, firstFiber);
  }

 private:
  void readScheduler(Address core, Address object) {
    const auto index = static_cast<uint32_t>(snapshot_.schedulers.size());
    Scheduler scheduler;
    scheduler.address = object;
    scheduler.numInjected = walk_.get<uint64_t>(core + offsets_.schedulerOverflow) + numInjected(core);
    scheduler.firstWorker = static_cast<uint32_t>(snapshot_.workers.size());
    walk_.forEachWorker(core, [&](Address worker) { workers_.add(worker, index); });
    scheduler.numWorkers = static_cast<uint32_t>(snapshot_.workers.size()) - scheduler.firstWorker;
    snapshot_.schedulers.push_back(scheduler);
  }

  // As SegmentedQueue::size().
  uint64_t numInjected(Address core) {
    const auto position = walk_.get<uint64_t>(core + offsets_.schedulerTail);
    const auto segment = walk_.get<Address>(core + offsets_.schedulerOldest);
    if (segment == 0) {
      return 0;
    }
    const uint64_t lap = uint64_t{1} << offsets_.segmentLapShift;
    const uint64_t tail =
        (position >> offsets_.segmentLapShift) * offsets_.segmentSize + (position & (lap - 1));
    const uint64_t head =
        walk_.get<uint64_t>(segment + offsets_.segmentBegin) +
        std::min<uint64_t>(walk_.get<uint32_t>(segment + offsets_.segmentIndex), offsets_.segmentSize);
    return tail > head ? tail - head : 0;
  }

  // The workers' own counters count a fiber that was woken as one that waits until it runs.
  void countFibers(size_t first) {
    for (size_t i = first; i < snapshot_.fibers.size(); ++i) {
      const Fiber& fiber = snapshot_.fibers[i];
      Worker& worker = snapshot_.workers[fiber.worker];
      worker.numBlocked += fiber.state == Fiber::State::Blocked ? 1 : 0;
      worker.numReady += fiber.state == Fiber::State::Ready ? 1 : 0;
      worker.numIdle += fiber.state == Fiber::State::Idle && !fiber.isMain ? 1 : 0;
    }
  }

  Address ownerOf(const Fiber& fiber) {
    const std::string_view what = snapshot_.names[fiber.what];
    // A RecursiveMutex begins with the mutex on which it stands.
    if (what == "mutex" || what == "RecursiveMutex") {
      return walk_.get<Address>(fiber.object + offsets_.mutexOwner);
    }
    return what == "SharedMutex" ? walk_.get<Address>(fiber.object + offsets_.sharedMutexOwner) : 0;
  }

  void findHolders(size_t first, FiberIndex& index) {
    for (size_t i = first; i < snapshot_.fibers.size(); ++i) {
      Fiber& fiber = snapshot_.fibers[i];
      if (fiber.what == kNone) {
        continue;
      }
      fiber.owner = ownerOf(fiber);
      if (fiber.owner != 0) {
        // The scope of a task in place lies on the stack of the fiber that runs it.
        const uint32_t holder = index.at(fiber.owner);
        fiber.holder = holder != kNone ? holder : index.onStack(fiber.owner);
      }
    }
  }

  // Who holds a lock was read a moment after who waits for it, so a cycle may be none. A deadlock stays as it
  // is: a cycle is left in the snapshot only if its members still wait, at several later looks, for the same
  // locks with the same holders.
  void dropPassingCycles(size_t first) {
    constexpr int kRounds = 4;
    constexpr timespec kPause{0, 1'000'000};
    const LockCycles cycles = findCycles(snapshot_, snapshot_.fibers.get_allocator().resource());
    std::pmr::vector<uint32_t> members(snapshot_.fibers.get_allocator());
    for (size_t i = 0; i < cycles.size(); ++i) {
      std::ranges::copy_if(cycles[i], std::back_inserter(members),
                           [first](uint32_t member) { return member >= first; });
    }
    std::pmr::vector<bool> haveWaited(members.size(), false, members.get_allocator());
    for (int round = 0; round < kRounds && !members.empty(); ++round) {
      nanosleep(&kPause, nullptr);
      for (size_t i = 0; i < members.size(); ++i) {
        const Stay stay = stayOf(members[i]);
        haveWaited[i] = haveWaited[i] || stay == Stay::Waits;
        if (stay == Stay::Other || (round == kRounds - 1 && !haveWaited[i])) {
          snapshot_.fibers[members[i]].holder = kNone;
        }
      }
    }
  }

  enum class Stay : uint8_t {
    Waits,       // as the snapshot says
    TriesAgain,  // has been woken, or runs; the lock has the owner of the snapshot
    Other,
  };

  Stay stayOf(uint32_t index) {
    const Fiber& fiber = snapshot_.fibers[index];
    std::pmr::vector<char> bytes(offsets_.fiberSize, snapshot_.fibers.get_allocator());
    if (!memory_.read(fiber.address, bytes.data(), bytes.size())) {
      return Stay::Other;
    }
    const Record block(bytes.data(), bytes.size());
    const bool waits = block.at<Address>(offsets_.fiberBlockedOn) == seen_[index].blockedOn &&
                       !block.at<bool>(offsets_.fiberIsWoken) && !block.at<bool>(offsets_.fiberIsQueued);
    if (block.at<Address>(offsets_.fiberBlockedObject) != fiber.object || ownerOf(fiber) != fiber.owner) {
      return Stay::Other;
    }
    return waits ? Stay::Waits : Stay::TriesAgain;
  }

  const Memory& memory_;
  const Offsets& offsets_;
  Snapshot& snapshot_;
  SchedulerWalk walk_;
  std::pmr::vector<SeenFiber> seen_;
  WorkerReader workers_;
};

}  // namespace

Now Now::read() {
  timespec date{};
  clock_gettime(CLOCK_REALTIME, &date);
  return {ClockReading::now(), date.tv_sec};
}

void readSnapshot(const Memory& memory, const Offsets& offsets, Unwinder* unwinder, const Now& now,
                  Snapshot& snapshot, Address only, Letters letters) {
  snapshot.time = now.seconds;
  SnapshotReader(memory, offsets, now, letters, snapshot).read(unwinder, only);
}

}  // namespace weft::inline v0_1::detail::inspect
