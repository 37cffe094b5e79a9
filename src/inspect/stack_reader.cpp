// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/stack_reader.h"

#include <sched.h>

#include <algorithm>

#include "os/osfiber_backend.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr size_t kMostBytes = size_t{16} * 1024;  // of a stack, from the stack pointer on
constexpr size_t kStackBuffer = size_t{1} << 20;
constexpr size_t kMostStackFrames = 64;
constexpr size_t kLeastPage = 4096;  // no processor has smaller pages

// A fiber that waits may look again now and then at what it waits for. Where many go on, the program does.
constexpr int kMostRounds = 4;
constexpr size_t kMostMissed = kStackBuffer / kMostBytes;

}  // namespace

StackReader::StackReader(const Memory& memory, const Offsets& offsets, Unwinder& unwinder, Snapshot& snapshot,
                         Objects objects)
    : memory_(memory),
      offsets_(offsets),
      unwinder_(unwinder),
      snapshot_(snapshot),
      stacks_(kStackBuffer, snapshot.fibers.get_allocator()),
      before_(snapshot.fibers.get_allocator()),
      after_(snapshot.fibers.get_allocator()),
      queued_(snapshot.fibers.get_allocator()),
      missed_(snapshot.fibers.get_allocator()),
      stackPieces_(snapshot.fibers.get_allocator()),
      blockPieces_(snapshot.fibers.get_allocator()),
      areObjectsWanted_(objects),
      objects_(memory, offsets, snapshot) {}

void StackReader::read(size_t first, const std::pmr::vector<SeenFiber>& seen, const WorkerReader& workers) {
  for (size_t i = first; i < snapshot_.fibers.size(); ++i) {
    const Fiber& fiber = snapshot_.fibers[i];
    if (fiber.state == Fiber::State::Idle || fiber.stackPointer == 0) {
      continue;
    }
    if (!seen[i].hasStack) {
      if (fiber.state == Fiber::State::Blocked) {
        missed_.push_back(static_cast<uint32_t>(i));
      }
      continue;
    }
    if (used_ + kMostBytes > stacks_.size()) {
      readQueued(seen, workers);
    }
    queue(static_cast<uint32_t>(i));
  }
  readQueued(seen, workers);
  readMissed(seen, workers);
}

void StackReader::readMissed(const std::pmr::vector<SeenFiber>& seen, const WorkerReader& workers) {
  for (int round = 0; round < kMostRounds && !missed_.empty() && missed_.size() <= kMostMissed; ++round) {
    sched_yield();  // to a worker that has the processor to look again
    std::pmr::vector<uint32_t> missed(missed_.get_allocator());
    missed.swap(missed_);
    for (uint32_t index : missed) {
      if (isSuspended(snapshot_.fibers[index])) {
        queue(index);
      } else {
        missed_.push_back(index);
      }
    }
    readQueued(seen, workers);
  }
  snapshot_.isComplete = snapshot_.isComplete && missed_.empty();
}

// Returns: whether the fiber's registers are saved.
bool StackReader::isSuspended(const Fiber& fiber) const {
  const Address worker = snapshot_.workers[fiber.worker].address;
  Address current = 0;
  bool isIdle = false;
  return memory_.get(worker + offsets_.workerCurrent, current) &&
         memory_.get(worker + offsets_.workerIsIdle, isIdle) && (current != fiber.address || isIdle);
}

void StackReader::queue(uint32_t index) {
  const Fiber& fiber = snapshot_.fibers[index];
  size_t size = kMostBytes;
  if (fiber.stackTop > fiber.stackPointer) {
    size = std::min<size_t>(size, fiber.stackTop - fiber.stackPointer);
  } else if (fiber.stackBase != 0) {
    return;
  }
  stackPieces_.push_back({fiber.stackPointer, stacks_.data() + used_, size, false});
  used_ += size;
  queued_.push_back(index);
}

// Between the look at the control blocks and this one, a fiber may have gone on and wait again, perhaps for
// the same. So the stacks and the objects are read between two more looks, which must find the same.
void StackReader::readQueued(const std::pmr::vector<SeenFiber>& seen, const WorkerReader& workers) {
  readBlocks(before_);
  for (size_t i = 0; i < queued_.size(); ++i) {
    const SeenFiber now = look(before_, i, workers);
    Fiber& fiber = snapshot_.fibers[queued_[i]];
    if (now.stackPointer != fiber.stackPointer && now.blockedOn == seen[queued_[i]].blockedOn) {
      moveTo(stackPieces_[i], fiber, now.stackPointer);
    }
  }
  memory_.readMany(stackPieces_.data(), stackPieces_.size());
  if (areObjectsWanted_ == Objects::Read) {
    objects_.read(queued_);
  }
  readBlocks(after_);
  for (size_t i = 0; i < queued_.size(); ++i) {
    const SeenFiber now = look(after_, i, workers);
    Fiber& fiber = snapshot_.fibers[queued_[i]];
    const bool hasStayed = now == look(before_, i, workers) && now.blockedOn == seen[queued_[i]].blockedOn &&
                           now.stackPointer == stackPieces_[i].address;
    if (!hasStayed || blockOf(after_, i).at<Address>(offsets_.fiberBlockedObject) != fiber.object) {
      fiber.objectState = {};
    }
    if (!hasStayed) {
      missed_.push_back(queued_[i]);
    } else if (stackPieces_[i].isRead || readAgain(stackPieces_[i])) {
      unwind(fiber, stackPieces_[i]);
    }
  }
  queued_.clear();
  stackPieces_.clear();
  used_ = 0;
}

void StackReader::readBlocks(std::pmr::vector<char>& blocks) {
  blocks.assign(queued_.size() * offsets_.fiberSize, '\0');
  blockPieces_.clear();
  for (size_t i = 0; i < queued_.size(); ++i) {
    const Fiber& fiber = snapshot_.fibers[queued_[i]];
    blockPieces_.push_back(
        {fiber.address, blocks.data() + i * offsets_.fiberSize, offsets_.fiberSize, false});
  }
  memory_.readMany(blockPieces_.data(), blockPieces_.size());
}

// Returns: what the control block says of the i-th fiber that is queued; nothing if it could not be read.
SeenFiber StackReader::look(const std::pmr::vector<char>& blocks, size_t i,
                            const WorkerReader& workers) const {
  return workers.look(blockOf(blocks, i));
}

Record StackReader::blockOf(const std::pmr::vector<char>& blocks, size_t i) const {
  return {blocks.data() + i * offsets_.fiberSize, offsets_.fiberSize};
}

// The fiber has gone on, and waits again with another stack pointer. There is room for no more than before.
void StackReader::moveTo(Memory::Piece& piece, Fiber& fiber, Address stackPointer) const {
  piece.address = fiber.stackPointer = stackPointer;
  if (fiber.stackBase != 0 && fiber.stackTop > stackPointer) {
    piece.size = std::min<size_t>(piece.size, fiber.stackTop - stackPointer);
  }
}

// The top of a thread's own stack is not known. Returns: whether at least the first page could be read.
bool StackReader::readAgain(Memory::Piece& piece) const {
  while (piece.size > kLeastPage) {
    piece.size /= 2;
    if (memory_.read(piece.address, piece.to, piece.size)) {
      return true;
    }
  }
  piece.size = kLeastPage - piece.address % kLeastPage;
  return memory_.read(piece.address, piece.to, piece.size);
}

void StackReader::unwind(Fiber& fiber, const Memory::Piece& piece) {
  Address frames[kMostStackFrames];
  const StackCopy copy{piece.to, piece.size, piece.address};
  uintptr_t mark = 0;
  fiber.isSwitchedByUcontext = copy.read(piece.address, &mark, sizeof mark) && mark == kUcontextMark;
  const size_t count =
      unwinder_.unwind(unwinder_.suspendedAt(piece.address, copy), copy, frames, kMostStackFrames);
  fiber.firstFrame = static_cast<uint32_t>(snapshot_.frames.size());
  fiber.numFrames = static_cast<uint32_t>(count);
  fiber.hasMoreFrames = count == kMostStackFrames;
  snapshot_.frames.insert(snapshot_.frames.end(), frames, frames + count);
}

}  // namespace weft::inline v0_1::detail::inspect
