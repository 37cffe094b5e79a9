// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/fiber_sampler.h"

#include <algorithm>
#include <utility>

#include "os/clock_reading.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// More would be a sign of damage: then the rest is left out.
constexpr size_t kMostSlabs = size_t{1} << 18;

constexpr size_t kNeighbours = 8;  // control blocks that are picked together

}  // namespace

FiberSampler::FiberSampler(const Memory& memory, const Offsets& offsets, Unwinder& unwinder,
                           Snapshot& snapshot, Most most, uint64_t seed)
    : memory_(memory),
      offsets_(offsets),
      snapshot_(snapshot),
      most_(most),
      random_(seed),
      walk_(memory, offsets, snapshot),
      seen_(snapshot.fibers.get_allocator()),
      workers_(memory, offsets, Letters::Noticed, snapshot, seen_),
      stacks_(memory, offsets, unwinder, snapshot, StackReader::Objects::Skip) {}

void FiberSampler::look() {
  ++numLooks_;
  snapshot_.schedulers.clear();
  snapshot_.workers.clear();
  snapshot_.fibers.clear();
  snapshot_.frames.clear();
  snapshot_.isComplete = true;
  seen_.clear();
  workers_.restart();
  workers_.countDueAsReady(ClockReading::now().nanoseconds);
  readWorkers();
  findFibers();
  chooseFibers();
  addWorkers();
  stacks_.read(0, seen_, workers_);
}

void FiberSampler::readWorkers() {
  seenWorkers_.clear();
  walk_.restart();
  for (const Address core : walk_.cores()) {
    const auto index = static_cast<uint32_t>(snapshot_.schedulers.size());
    Scheduler scheduler;
    scheduler.address = walk_.get<Address>(core + offsets_.schedulerObject);
    snapshot_.schedulers.push_back(scheduler);
    walk_.forEachWorker(core, [&](Address address) { seenWorkers_.push_back({address, index}); });
  }
  bytes_.assign(seenWorkers_.size() * (offsets_.workerSize + offsets_.fiberSize), '\0');
  char* to = bytes_.data();
  pieces_.clear();
  for (SeenWorker& worker : seenWorkers_) {
    worker.record = to;
    worker.current = to + offsets_.workerSize;
    to = worker.current + offsets_.fiberSize;
    pieces_.push_back({worker.address, worker.record, offsets_.workerSize, false});
  }
  memory_.readMany(pieces_.data(), pieces_.size());
  size_t i = 0;
  std::erase_if(seenWorkers_, [&](const SeenWorker&) { return !pieces_[i++].isRead; });
  followWorkers();
}

// Reads what the workers point to.
void FiberSampler::followWorkers() {
  pieces_.clear();
  for (SeenWorker& worker : seenWorkers_) {
    worker.slabs = &slabs_[worker.address];
    worker.slabs->lastLook = numLooks_;
    const Record record = recordOf(worker);
    const auto current = record.at<Address>(offsets_.workerCurrent);
    worker.hasOther = current != 0 && current != worker.address + offsets_.workerMain;
    if (worker.hasOther) {
      pieces_.push_back({current, worker.current, offsets_.fiberSize, false});
    }
    std::vector<Slab>& all = worker.slabs->all;
    const size_t firstUnknown = followSlabs(*worker.slabs, record.at<Address>(offsets_.workerSlabs));
    for (size_t i = firstUnknown; i < all.size(); ++i) {
      pieces_.push_back(
          {all[i].address + offsets_.slabNumUsed, &all[i].numUsed, sizeof all[i].numUsed, false});
    }
  }
  memory_.readMany(pieces_.data(), pieces_.size());
  std::erase_if(slabs_, [this](const auto& each) { return each.second.lastLook != numLooks_; });
}

// A worker puts each new slab before its others. Only the newest is not full. Returns: the index of the first
// slab of which it is not known how full it is.
size_t FiberSampler::followSlabs(Slabs& slabs, Address newest) {
  if (std::exchange(slabs.isStale, false)) {
    slabs.all.clear();
  }
  std::vector<Slab> added;
  Address next = newest;
  while (next != 0 && (slabs.all.empty() || next != slabs.all.back().address) && added.size() < kMostSlabs) {
    added.push_back({next, 0});
    next = walk_.get<Address>(next + offsets_.slabNext);
  }
  if (next == 0) {
    slabs.all.clear();  // those were another worker's, which lay there before
  }
  const size_t firstUnknown = slabs.all.empty() ? 0 : slabs.all.size() - 1;
  slabs.all.insert(slabs.all.end(), added.rbegin(), added.rend());
  return firstUnknown;
}

// Calls f(i) for `most` of the numbers below `count`, in their order: for one from each of as many ranges of
// the same size.
template <class F>
void FiberSampler::forEachPick(uint64_t count, size_t most, F f) {
  if (count <= most) {
    for (uint64_t i = 0; i < count; ++i) {
      f(i);
    }
    return;
  }
  const double size = static_cast<double>(count) / static_cast<double>(most);
  std::uniform_real_distribution<double> within(0, 1);
  for (size_t i = 0; i < most; ++i) {
    const double pick = (static_cast<double>(i) + within(random_)) * size;
    f(std::min(static_cast<uint64_t>(pick), count - 1));
  }
}

void FiberSampler::findFibers() {
  uint64_t count = 0;
  for (const SeenWorker& worker : seenWorkers_) {
    for (Slab& slab : worker.slabs->all) {
      slab.numUsed = std::min<uint32_t>(slab.numUsed, static_cast<uint32_t>(offsets_.slabSize));
      count += slab.numUsed;
    }
  }
  pickBlocks(count, count <= most_.wholeBlocks ? most_.wholeBlocks : numBlocks_);
  readBlocks();
  found_.clear();
  for (size_t i = 0; i < picked_.size(); ++i) {
    if (isCandidate(i)) {
      found_.push_back(i);
    }
  }
  // For the next look: to read on where this one has found too few would favour looks that find many.
  const size_t wanted = 2 * most_.some * picked_.size() / std::max<size_t>(found_.size(), 1);
  numBlocks_ = std::clamp(wanted, most_.someBlocks, most_.manyBlocks);
}

void FiberSampler::pickBlocks(uint64_t count, size_t most) {
  picked_.clear();
  // Picks come in the order of the blocks: of the workers, of their slabs, within a slab.
  size_t worker = 0;
  size_t slab = 0;
  uint64_t first = 0;  // the number of the slab's first block
  const auto add = [&](uint64_t pick) {
    for (;;) {
      const std::vector<Slab>& all = seenWorkers_[worker].slabs->all;
      if (slab == all.size()) {
        ++worker;
        slab = 0;
      } else if (pick - first >= all[slab].numUsed) {
        first += all[slab++].numUsed;
      } else {
        const Address blocks = all[slab].address + offsets_.slabBlocks;
        picked_.push_back({blocks + static_cast<size_t>(pick - first) * offsets_.fiberSize, worker});
        return;
      }
    }
  };
  // Neighbours lie on one page, of which the first read costs most.
  forEachPick((count + kNeighbours - 1) / kNeighbours, most / kNeighbours, [&](uint64_t run) {
    for (uint64_t i = run * kNeighbours; i < std::min(count, (run + 1) * kNeighbours); ++i) {
      add(i);
    }
  });
  blockWeight_ = picked_.empty() ? 1 : static_cast<double>(count) / static_cast<double>(picked_.size());
}

void FiberSampler::readBlocks() {
  blocks_.assign(picked_.size() * offsets_.fiberSize, '\0');
  pieces_.clear();
  for (size_t i = 0; i < picked_.size(); ++i) {
    pieces_.push_back(
        {picked_[i].address, blocks_.data() + i * offsets_.fiberSize, offsets_.fiberSize, false});
  }
  memory_.readMany(pieces_.data(), pieces_.size());
}

// Returns: whether the fiber waits or is ready. That which a worker's thread is on is looked at in any case.
bool FiberSampler::isCandidate(size_t picked) {
  SeenWorker& worker = seenWorkers_[picked_[picked].worker];
  const Record block = blockAt(picked);
  if (block.at<Address>(offsets_.fiberWorker) != worker.address) {
    worker.slabs->isStale = true;
    return false;
  }
  const bool isUsed = block.at<Address>(offsets_.fiberBlockedOn) != 0 ||
                      block.at<bool>(offsets_.fiberIsQueued) || block.at<Address>(offsets_.fiberTask) != 0;
  return isUsed && block.at<Address>(offsets_.fiberStackBase) != 0 &&
         picked_[picked].address != recordOf(worker).at<Address>(offsets_.workerCurrent);
}

void FiberSampler::chooseFibers() {
  chosen_.clear();
  const size_t most = found_.size() <= most_.whole && blockWeight_ == 1 ? most_.whole : most_.some;
  forEachPick(found_.size(), most, [&](uint64_t i) { chosen_.push_back(found_[i]); });
  fiberWeight_ = chosen_.empty() ? 1
                                 : blockWeight_ * static_cast<double>(found_.size()) /
                                       static_cast<double>(chosen_.size());
}

void FiberSampler::addWorkers() {
  weights_.clear();
  std::vector<WorkerReader::Block> blocks;
  size_t next = 0;  // in chosen_
  for (size_t i = 0; i < seenWorkers_.size(); ++i) {
    const SeenWorker& worker = seenWorkers_[i];
    const Record record = recordOf(worker);
    blocks.clear();
    if (worker.hasOther) {
      blocks.push_back(
          {record.at<Address>(offsets_.workerCurrent), Record(worker.current, offsets_.fiberSize)});
    }
    const size_t numOthers = blocks.size();
    for (; next < chosen_.size() && picked_[chosen_[next]].worker == i; ++next) {
      blocks.push_back({picked_[chosen_[next]].address, blockAt(chosen_[next])});
    }
    Scheduler& scheduler = snapshot_.schedulers[worker.scheduler];
    scheduler.firstWorker = scheduler.numWorkers++ == 0 ? static_cast<uint32_t>(i) : scheduler.firstWorker;
    workers_.addPart(record, worker.address, worker.scheduler, blocks);
    weights_.resize(snapshot_.fibers.size() - (blocks.size() - numOthers), 1);
    weights_.resize(snapshot_.fibers.size(), fiberWeight_);
  }
}

}  // namespace weft::inline v0_1::detail::inspect
