// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "inspect/memory.h"
#include "inspect/offsets.h"
#include "inspect/scheduler_walk.h"
#include "inspect/snapshot.h"
#include "inspect/stack_reader.h"
#include "inspect/unwinder.h"
#include "inspect/worker_reader.h"

namespace weft::inline v0_1::detail::inspect {

// Looks again and again at some fibers of a process. The fibers are chosen at random, each with the same
// chance, so a look takes about as long however many there are. Each stands for several: for `weightOf()`.
//
// Allocates: it is not for a process that looks at itself.
class FiberSampler {
 public:
  // Whatever there is no more of is looked at whole.
  struct Most {
    size_t whole = 16;  // fibers that wait or are ready
    size_t some = 4;    // of more than that
    // Control blocks that a look reads to find them, multiples of 8.
    size_t wholeBlocks = 64;
    size_t someBlocks = 8;    // of more than that, if most of the fibers wait or are ready
    size_t manyBlocks = 256;  // if few of them do
  };

  // All of these outlive the sampler. `snapshot` is empty, and belongs to it alone.
  FiberSampler(const Memory& memory, const Offsets& offsets, Unwinder& unwinder, Snapshot& snapshot,
               Most most, uint64_t seed = 1);

  // Fills the snapshot anew: with all workers and their main fibers, and with the fibers that are chosen.
  // What only a look at all fibers finds is missing: times, who holds a lock, who waits with whom, numbers.
  void look();

  // Adds the fiber that the worker's thread is on. Returns: its index; kNone, if it cannot be read. It is
  // Running, unless it has begun to wait, or has no task. Requires: the worker is one of the last look.
  uint32_t addCurrent(uint32_t worker) { return workers_.addCurrent(worker); }

  // Returns: for how many fibers that one stands.
  double weightOf(uint32_t fiber) const { return fiber < weights_.size() ? weights_[fiber] : 1; }

 private:
  struct Slab {
    Address address;
    uint32_t numUsed;
  };
  // A worker keeps its slabs, and makes new ones when all are full.
  struct Slabs {
    std::vector<Slab> all;  // the newest last
    bool isStale = false;   // they are another worker's by now, or have gone
    uint32_t lastLook = 0;
  };
  struct SeenWorker {
    Address address;
    uint32_t scheduler;
    char* record = nullptr;   // in bytes_
    char* current = nullptr;  // the control block of the fiber that its thread is on
    bool hasOther = false;    // that is another than the main fiber
    Slabs* slabs = nullptr;
  };
  struct Picked {
    Address address;
    size_t worker;  // index in seenWorkers_
  };

  void readWorkers();
  void followWorkers();
  size_t followSlabs(Slabs& slabs, Address newest);
  void findFibers();
  void pickBlocks(uint64_t count, size_t most);
  void readBlocks();
  bool isCandidate(size_t picked);
  void chooseFibers();
  void addWorkers();
  Record recordOf(const SeenWorker& worker) const { return Record(worker.record, offsets_.workerSize); }
  Record blockAt(size_t i) const {
    return Record(blocks_.data() + i * offsets_.fiberSize, offsets_.fiberSize);
  }

  template <class F>
  void forEachPick(uint64_t count, size_t most, F f);

  const Memory& memory_;
  const Offsets& offsets_;
  Snapshot& snapshot_;
  const Most most_;
  std::mt19937_64 random_;
  SchedulerWalk walk_;
  std::pmr::vector<SeenFiber> seen_;
  WorkerReader workers_;
  StackReader stacks_;
  std::map<Address, Slabs> slabs_;  // by their workers
  uint32_t numLooks_ = 0;
  size_t numBlocks_ = most_.manyBlocks;  // that the next look reads
  std::vector<Memory::Piece> pieces_;
  // Of the last look:
  std::vector<SeenWorker> seenWorkers_;
  std::vector<char> bytes_;      // of them, and of the fibers that their threads are on
  std::vector<Picked> picked_;   // by their workers
  std::vector<char> blocks_;     // that were picked
  std::vector<size_t> found_;    // indices in picked_ of fibers that wait or are ready
  std::vector<size_t> chosen_;   // some of found_
  double blockWeight_ = 1;       // for so many blocks stands one that was picked
  double fiberWeight_ = 1;       // for so many fibers stands one that was chosen
  std::vector<double> weights_;  // of the snapshot's fibers
};

}  // namespace weft::inline v0_1::detail::inspect
