// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/worker_reader.h"

#include <algorithm>
#include <string_view>

#include "inspect/mail_reader.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// More would be a sign of damage: then the rest is left out.
constexpr size_t kMostFibers = size_t{1} << 24;
constexpr size_t kMostNames = 256;

// In place of a node: the owner of an inbox sleeps, or a node is not linked yet.
constexpr Address kMark = 1;

// Whether the fiber, which its worker's thread is on, has code of the program's to run.
bool runsCode(const Fiber& fiber, const Worker& worker) {
  return fiber.what == kNone && (fiber.isMain ? worker.id < 0 : fiber.task != 0);
}

}  // namespace

WorkerReader::WorkerReader(const Memory& memory, const Offsets& offsets, Letters letters, Snapshot& snapshot,
                           std::pmr::vector<SeenFiber>& seen)
    : memory_(memory),
      offsets_(offsets),
      letters_(letters),
      snapshot_(snapshot),
      seen_(seen),
      buffer_(snapshot.fibers.get_allocator().resource()),
      inboxes_(snapshot.fibers.get_allocator().resource()),
      nameAddresses_(snapshot.fibers.get_allocator().resource()) {}

void WorkerReader::setTime(const Clock& clock, int64_t nanosecondsNow) {
  clock_ = clock;
  nanosecondsNow_ = nanosecondsNow;
}

void WorkerReader::add(Address address, uint32_t scheduler) {
  std::pmr::vector<char> bytes(offsets_.workerSize, buffer_.get_allocator());
  if (!memory_.read(address, bytes.data(), bytes.size())) {
    snapshot_.isComplete = false;
    return;
  }
  const Record record(bytes.data(), bytes.size());
  const uint32_t worker = begin(record, address, scheduler);
  readQueues(record, snapshot_.workers[worker]);
  addSlabs(record.at<Address>(offsets_.workerSlabs), address, worker);
  end(record, worker);
}

void WorkerReader::addPart(const Record& record, Address address, uint32_t scheduler,
                           std::span<const Block> blocks) {
  const uint32_t worker = begin(record, address, scheduler);
  for (const Block& block : blocks) {
    addFiber(block.record, block.address, worker);
  }
  end(record, worker);
}

uint32_t WorkerReader::addCurrent(uint32_t worker) {
  const Address address = snapshot_.workers[worker].address;
  Address current = 0;
  if (!memory_.get(address + offsets_.workerCurrent, current) || current == 0 || !addBlock(current, worker)) {
    return kNone;
  }
  Fiber& fiber = snapshot_.fibers.back();
  fiber.isMain = current == address + offsets_.workerMain;
  if (runsCode(fiber, snapshot_.workers[worker])) {
    fiber.state = Fiber::State::Running;
  }
  return static_cast<uint32_t>(snapshot_.fibers.size() - 1);
}

uint32_t WorkerReader::begin(const Record& record, Address address, uint32_t scheduler) {
  const auto index = static_cast<uint32_t>(snapshot_.workers.size());
  snapshot_.workers.push_back(describe(record, address));
  snapshot_.workers.back().scheduler = scheduler;
  snapshot_.workers.back().firstFiber = static_cast<uint32_t>(snapshot_.fibers.size());
  if (record.at<Address>(offsets_.workerMainScope) != 0) {
    addMain(record, address, index);
  }
  return index;
}

void WorkerReader::end(const Record& record, uint32_t index) {
  Worker& worker = snapshot_.workers[index];
  worker.numFibers = static_cast<uint32_t>(snapshot_.fibers.size()) - worker.firstFiber;
  setStates(record, index);
  inboxes_.push_back(record.at<Address>(offsets_.workerInbox));
}

Worker WorkerReader::describe(const Record& record, Address address) const {
  Worker worker;
  worker.address = address;
  worker.id = record.at<int32_t>(offsets_.workerId);
  worker.threadId = record.at<int32_t>(offsets_.workerThreadId);
  worker.state = record.at<bool>(offsets_.workerIsParked) ? Worker::State::Asleep
                 : record.at<bool>(offsets_.workerIsIdle) ? Worker::State::Searching
                                                          : Worker::State::Busy;
  worker.busyFor = clock_.since(record.at<uint32_t>(offsets_.workerLookedAt));
  worker.turn = uint64_t{record.at<uint32_t>(offsets_.workerLookedAt)} << 32 |
                record.at<uint32_t>(offsets_.workerUntilPoll);
  worker.numTasksRun = record.at<uint64_t>(offsets_.workerNumEnded);
  worker.numSteals = record.at<uint64_t>(offsets_.workerNumSteals);
  worker.numParks = record.at<uint64_t>(offsets_.workerNumParks);
  worker.numTimers = record.at<uint32_t>(offsets_.workerNumTimers);
  return worker;
}

// Reads what waits for the worker, and lies elsewhere.
void WorkerReader::readQueues(const Record& record, Worker& worker) const {
  worker.numPinned =
      record.at<uint64_t>(offsets_.workerPinnedLifo) + record.at<uint64_t>(offsets_.workerPinnedFifo);
  if (letters_ == Letters::Counted) {
    worker.numPinned += countLetters(memory_, offsets_, worker.address);
  } else if (hasLetters(memory_, offsets_, worker.address)) {
    ++worker.numPinned;
    worker.areLettersCounted = false;
  }
  worker.numQueued = worker.numPinned + numStealable(record);
  int64_t deadline = 0;
  if (worker.numTimers != 0 && memory_.get(record.at<Address>(offsets_.workerTimers), deadline)) {
    worker.untilTimer = std::chrono::nanoseconds(deadline - nanosecondsNow_);
  }
}

uint64_t WorkerReader::numStealable(const Record& record) const {
  const auto deque = record.at<Address>(offsets_.workerDeque);
  int64_t bottom = 0;
  int64_t top = 0;
  const bool isRead = deque != 0 && memory_.get(deque + offsets_.dequeBottom, bottom) &&
                      memory_.get(deque + offsets_.dequeTop, top);
  return isRead && bottom > top ? static_cast<uint64_t>(bottom - top) : 0;
}

// The main fiber is part of the worker.
void WorkerReader::addMain(const Record& record, Address address, uint32_t worker) {
  addFiber(record.part(offsets_.workerMain, offsets_.fiberSize), address + offsets_.workerMain, worker);
  snapshot_.fibers.back().isMain = true;
  snapshot_.fibers.back().scope = record.at<Address>(offsets_.workerMainScope);
}

// Adds the fiber whose control block lies there. Returns: whether that could be read.
bool WorkerReader::addBlock(Address address, uint32_t worker) {
  buffer_.resize(offsets_.fiberSize);
  if (!memory_.read(address, buffer_.data(), buffer_.size())) {
    return false;
  }
  addFiber(Record(buffer_.data(), buffer_.size()), address, worker);
  return true;
}

void WorkerReader::addSlabs(Address slab, Address address, uint32_t worker) {
  while (slab != 0) {
    if (snapshot_.fibers.size() >= kMostFibers || !addSlab(slab, address, worker)) {
      snapshot_.isComplete = false;
      return;
    }
  }
}

// Adds the fibers of a slab, and goes to the next one. Returns: whether it could be read.
bool WorkerReader::addSlab(Address& slab, Address owner, uint32_t worker) {
  uint32_t numUsed = 0;
  Address next = 0;
  if (!memory_.get(slab + offsets_.slabNumUsed, numUsed) || !memory_.get(slab + offsets_.slabNext, next) ||
      numUsed > offsets_.slabSize) {
    return false;
  }
  const Address blocks = slab + offsets_.slabBlocks;
  buffer_.resize(numUsed * offsets_.fiberSize);
  if (!memory_.read(blocks, buffer_.data(), buffer_.size())) {
    return false;
  }
  for (uint32_t i = 0; i < numUsed; ++i) {
    const Record block(buffer_.data() + i * offsets_.fiberSize, offsets_.fiberSize);
    if (block.at<Address>(offsets_.fiberWorker) != owner) {
      return false;
    }
    if (block.at<Address>(offsets_.fiberStackBase) != 0) {
      addFiber(block, blocks + i * offsets_.fiberSize, worker);
    }
  }
  slab = next;
  return true;
}

SeenFiber WorkerReader::look(const Record& block) const {
  return {block.at<Address>(offsets_.fiberStackPointer), block.at<Address>(offsets_.fiberBlockedOn),
          block.at<uint32_t>(offsets_.fiberSince)};
}

void WorkerReader::addFiber(const Record& block, Address address, uint32_t worker) {
  Fiber fiber;
  fiber.address = fiber.scope = address;
  fiber.id = block.at<uint32_t>(offsets_.fiberId);
  fiber.worker = worker;
  fiber.task = block.at<Address>(offsets_.fiberTask);
  fiber.taskNumber = block.at<uint64_t>(offsets_.fiberTaskNumber);
  const SeenFiber seen = look(block);
  fiber.stackPointer = seen.stackPointer;
  fiber.stackBase = block.at<Address>(offsets_.fiberStackBase);
  fiber.stackTop = fiber.stackBase == 0 ? 0 : fiber.stackBase + block.at<uint64_t>(offsets_.fiberStackSize);
  if (seen.blockedOn != 0) {
    fiber.what = nameOf(seen.blockedOn);
    fiber.object = block.at<Address>(offsets_.fiberBlockedObject);
    fiber.blockedFor = clock_.since(seen.since);
  }
  const bool isReady = block.at<bool>(offsets_.fiberIsQueued) ||
                       (seen.blockedOn != 0 && block.at<bool>(offsets_.fiberIsWoken)) ||
                       (fiber.what != kNone && isDue(block, fiber));
  fiber.state = isReady               ? Fiber::State::Ready
                : fiber.what != kNone ? Fiber::State::Blocked
                                      : Fiber::State::Idle;
  snapshot_.fibers.push_back(fiber);
  seen_.push_back(seen);
}

// Returns: whether its time limit is over. Not of a fiber that waits for a lock: mostly such a time only has
// it look again whether the lock is free, and then it waits on.
bool WorkerReader::isDue(const Record& block, const Fiber& fiber) const {
  const std::string_view what = snapshot_.names[fiber.what];
  // The index of a timer without a time yet is larger, as is that of none.
  return block.at<uint32_t>(offsets_.fiberTimerIndex) >> offsets_.timerMostShift == 0 &&
         block.at<int64_t>(offsets_.fiberDeadline) <= dueUntil_ && what != "mutex" &&
         what != "RecursiveMutex" && what != "SharedMutex";
}

// Finds out which fiber the thread is on, and what that says of the worker.
void WorkerReader::setStates(const Record& record, uint32_t index) {
  Worker& worker = snapshot_.workers[index];
  const bool isIdle = worker.state != Worker::State::Busy;
  const auto current = record.at<Address>(offsets_.workerCurrent);
  for (uint32_t i = worker.firstFiber; i < worker.firstFiber + worker.numFibers; ++i) {
    const bool isCurrent = snapshot_.fibers[i].address == current;
    if (isCurrent) {
      worker.running = i;
    }
    setState(snapshot_.fibers[i], worker, isCurrent);
    seen_[i].hasStack = !isCurrent || isIdle;
  }
  const Fiber* running = worker.running != kNone ? &snapshot_.fibers[worker.running] : nullptr;
  if (!isIdle && (running == nullptr || running->state != Fiber::State::Running)) {
    worker.state = Worker::State::Searching;
  }
}

void WorkerReader::setState(Fiber& fiber, const Worker& worker, bool isCurrent) const {
  const bool isIdle = worker.state != Worker::State::Busy;
  if (isCurrent) {
    fiber.isLastOfWorker = fiber.state != Fiber::State::Idle || isIdle;
    if (!isIdle && runsCode(fiber, worker)) {
      fiber.state = Fiber::State::Running;
      fiber.isLastOfWorker = false;
    }
  } else if (fiber.what == kNone && fiber.task != 0) {
    fiber.state = Fiber::State::Ready;  // it has yielded
  }
}

// An inbox is a list of fibers that other threads have woken, the newest first. The worker does not know of
// them yet.
void WorkerReader::markWoken(FiberIndex& index) {
  for (Address inbox : inboxes_) {
    for (size_t i = 0; inbox > kMark && i < snapshot_.fibers.size(); ++i) {
      const uint32_t found = index.at(inbox);
      if (found != kNone && snapshot_.fibers[found].state == Fiber::State::Blocked) {
        snapshot_.fibers[found].state = Fiber::State::Ready;
      }
      if (!memory_.get(inbox + offsets_.fiberInboxNext, inbox)) {
        break;
      }
    }
  }
}

// Returns: the index of the text at `text` among the names of the snapshot.
uint32_t WorkerReader::nameOf(Address text) {
  const auto known = std::ranges::find(nameAddresses_, text);
  if (known != nameAddresses_.end()) {
    return static_cast<uint32_t>(known - nameAddresses_.begin()) + firstName_;
  }
  // Bit by bit: what follows the text may not be readable.
  char name[64] = "";
  size_t length = 0;
  while (length < sizeof name - 1 && memory_.get(text + length, name[length]) && name[length] != '\0') {
    ++length;
  }
  name[length] = '\0';
  if (nameAddresses_.size() == kMostNames) {
    snapshot_.isComplete = false;
    return static_cast<uint32_t>(snapshot_.names.size()) - 1;
  }
  nameAddresses_.push_back(text);
  // A core file does not have the program's constants.
  snapshot_.names.emplace_back(length == 0 ? "(unknown)" : name);
  return static_cast<uint32_t>(snapshot_.names.size()) - 1;
}

}  // namespace weft::inline v0_1::detail::inspect
