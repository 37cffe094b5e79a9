// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory_resource>
#include <vector>

#include "inspect/memory.h"
#include "inspect/object_reader.h"
#include "inspect/offsets.h"
#include "inspect/snapshot.h"
#include "inspect/unwinder.h"
#include "inspect/worker_reader.h"

namespace weft::inline v0_1::detail::inspect {

// Reads the backtraces of fibers that do not run: many stacks by one system call.
class StackReader {
 public:
  enum class Objects : uint8_t { Read, Skip };

  StackReader(const Memory& memory, const Offsets& offsets, Unwinder& unwinder, Snapshot& snapshot,
              Objects objects = Objects::Read);

  // For the fibers from `first` on; also reads what the objects hold that they wait for, if that is wanted.
  // `seen`: what their control blocks said. A fiber that goes on again and again meanwhile gets neither.
  void read(size_t first, const std::pmr::vector<SeenFiber>& seen, const WorkerReader& workers);

 private:
  void queue(uint32_t index);
  void readMissed(const std::pmr::vector<SeenFiber>& seen, const WorkerReader& workers);
  bool isSuspended(const Fiber& fiber) const;
  void readQueued(const std::pmr::vector<SeenFiber>& seen, const WorkerReader& workers);
  void readBlocks(std::pmr::vector<char>& blocks);
  SeenFiber look(const std::pmr::vector<char>& blocks, size_t i, const WorkerReader& workers) const;
  Record blockOf(const std::pmr::vector<char>& blocks, size_t i) const;
  void moveTo(Memory::Piece& piece, Fiber& fiber, Address stackPointer) const;
  bool readAgain(Memory::Piece& piece) const;
  void unwind(Fiber& fiber, const Memory::Piece& piece);

  const Memory& memory_;
  const Offsets& offsets_;
  Unwinder& unwinder_;
  Snapshot& snapshot_;
  std::pmr::vector<char> stacks_;
  std::pmr::vector<char> before_, after_;  // control blocks, around the reading of the stacks
  std::pmr::vector<uint32_t> queued_;      // indices of fibers
  std::pmr::vector<uint32_t> missed_;      // of those that wait, and went on while they were read
  std::pmr::vector<Memory::Piece> stackPieces_;
  std::pmr::vector<Memory::Piece> blockPieces_;
  const Objects areObjectsWanted_;
  ObjectReader objects_;
  size_t used_ = 0;  // of stacks_
};

}  // namespace weft::inline v0_1::detail::inspect
