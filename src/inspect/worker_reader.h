// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <span>
#include <vector>

#include "inspect/fiber_index.h"
#include "inspect/memory.h"
#include "inspect/offsets.h"
#include "inspect/snapshot.h"

namespace weft::inline v0_1::detail::inspect {

// How ticks of the observed process are told as times.
class Clock {
 public:
  Clock() = default;
  // `shift`: of the coarse time, as the table says.
  Clock(uint64_t nowTicks, double nanosecondsPerTick, uint64_t shift)
      : now_(static_cast<uint32_t>(nowTicks >> shift)),
        unit_(nanosecondsPerTick * static_cast<double>(uint64_t{1} << shift)) {}

  // Returns: how long ago the coarse time `then` was; zero for one to come.
  std::chrono::nanoseconds since(uint32_t then) const {
    const auto passed = static_cast<int32_t>(now_ - then);
    return std::chrono::nanoseconds(passed <= 0 ? 0 : static_cast<int64_t>(passed * unit_));
  }

 private:
  uint32_t now_ = 0;
  double unit_ = 0;
};

// A piece of memory that was read, with members at offsets.
class Record {
 public:
  Record(const void* bytes, size_t size) : bytes_(static_cast<const char*>(bytes)), size_(size) {}

  // Returns: the member; zero if it lies outside.
  template <class T>
  T at(uint64_t offset) const {
    T value{};
    if (offset <= size_ && sizeof(T) <= size_ - offset) {
      std::memcpy(&value, bytes_ + offset, sizeof value);
    }
    return value;
  }
  // Returns: the member that has members of its own; an empty one if it lies outside.
  Record part(uint64_t offset, size_t size) const {
    const bool isInside = offset <= size_ && size <= size_ - offset;
    return {bytes_ + (isInside ? offset : 0), isInside ? size : 0};
  }

 private:
  const char* bytes_;
  size_t size_;
};

// What a reader remembers of a fiber, to see whether the fiber has gone on meanwhile.
struct SeenFiber {
  Address stackPointer = 0;
  Address blockedOn = 0;
  uint32_t since = 0;
  bool hasStack = false;  // its stack may be read: it does not run

  bool operator==(const SeenFiber&) const = default;
};

// Reads workers, and the control blocks of their fibers.
class WorkerReader {
 public:
  WorkerReader(const Memory& memory, const Offsets& offsets, Letters letters, Snapshot& snapshot,
               std::pmr::vector<SeenFiber>& seen);

  // Both are the time of the process. Called before the first add().
  void setTime(const Clock& clock, int64_t nanosecondsNow);
  // From now on a fiber whose time limit was over at that time of the process counts as ready, although its
  // worker has not noticed yet.
  void countDueAsReady(int64_t nanosecondsNow) { dueUntil_ = nanosecondsNow; }
  // The snapshot has got rid of its workers and fibers, but not of its names.
  void restart() { inboxes_.clear(); }

  // Adds the worker at `address`, unless it cannot be read.
  void add(Address address, uint32_t scheduler);
  // A control block that was read a moment ago.
  struct Block {
    Address address;
    Record record;
  };
  // Adds a worker of which `record` was read a moment ago, without its queues. Of its fibers it adds only the
  // main one and those of `blocks`. The one that its thread is on should be among these.
  void addPart(const Record& record, Address address, uint32_t scheduler, std::span<const Block> blocks);
  // Adds the fiber that the worker's thread is on now. Returns: its index; kNone, if it cannot be read. It is
  // Running, unless it has begun to wait, or has no task: its worker then looks for work on its stack.
  uint32_t addCurrent(uint32_t worker);
  // For after the last add(): finds the fibers that have been woken, but whose worker has not noticed yet.
  void markWoken(FiberIndex& index);
  // Returns: what the control block says now.
  SeenFiber look(const Record& block) const;

 private:
  uint32_t begin(const Record& record, Address address, uint32_t scheduler);
  void end(const Record& record, uint32_t worker);
  Worker describe(const Record& record, Address address) const;
  void readQueues(const Record& record, Worker& worker) const;
  uint64_t numStealable(const Record& record) const;
  void addMain(const Record& record, Address address, uint32_t worker);
  bool addBlock(Address address, uint32_t worker);
  void addSlabs(Address slab, Address address, uint32_t worker);
  bool addSlab(Address& slab, Address owner, uint32_t worker);
  void addFiber(const Record& block, Address address, uint32_t worker);
  bool isDue(const Record& block, const Fiber& fiber) const;
  void setStates(const Record& record, uint32_t worker);
  void setState(Fiber& fiber, const Worker& worker, bool isCurrent) const;
  uint32_t nameOf(Address text);

  const Memory& memory_;
  const Offsets& offsets_;
  Clock clock_;
  int64_t nanosecondsNow_ = 0;
  int64_t dueUntil_ = std::numeric_limits<int64_t>::min();
  const Letters letters_;
  Snapshot& snapshot_;
  std::pmr::vector<SeenFiber>& seen_;
  std::pmr::vector<char> buffer_;
  std::pmr::vector<Address> inboxes_;
  std::pmr::vector<Address> nameAddresses_;
  const uint32_t firstName_ = static_cast<uint32_t>(snapshot_.names.size());
};

}  // namespace weft::inline v0_1::detail::inspect
