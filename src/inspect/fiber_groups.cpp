// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/fiber_groups.h"

#include <algorithm>
#include <bit>

namespace weft::inline v0_1::detail::inspect {
namespace {

// Gives each group a number, in the order of their first members. A hash table with linear probing.
class GroupNumbers {
 public:
  GroupNumbers(const Snapshot& snapshot, Names& names, std::pmr::memory_resource* memory, size_t mostFibers)
      : snapshot_(snapshot),
        names_(names),
        slots_(memory, mostFibers == 0 ? 0 : std::bit_ceil(2 * mostFibers)),
        firsts_(memory, mostFibers) {}

  bool isRefused() const { return slots_.isRefused() || firsts_.isRefused(); }
  uint32_t size() const { return size_; }
  uint32_t firstOf(uint32_t group) const { return firsts_[group]; }

  uint32_t of(uint32_t index) {
    const Fiber& fiber = snapshot_.fibers[index];
    const size_t mask = slots_.size() - 1;
    size_t slot = hash(fiber) & mask;
    while (slots_[slot] != 0) {
      const uint32_t group = slots_[slot] - 1;
      if (isAlike(fiber, snapshot_.fibers[firsts_[group]])) {
        return group;
      }
      slot = (slot + 1) & mask;
    }
    firsts_[size_] = index;
    slots_[slot] = ++size_;
    return size_ - 1;
  }

 private:
  size_t hash(const Fiber& fiber) const {
    uint64_t sum = mix(mix(0, fiber.what), fiber.task);
    for (const Address frame : framesOf(fiber)) {
      sum = mix(sum, frame);
    }
    return static_cast<size_t>(sum);
  }
  static uint64_t mix(uint64_t sum, uint64_t value) {
    sum = (sum ^ value) * 0x9e3779b97f4a7c15;
    return sum ^ sum >> 32;
  }
  bool isAlike(const Fiber& a, const Fiber& b) const {
    return a.what == b.what && a.task == b.task && std::ranges::equal(framesOf(a), framesOf(b));
  }
  // Returns: those from the first on that is not weft's.
  std::span<const Address> framesOf(const Fiber& fiber) const {
    const std::span<const Address> all = snapshot_.framesOf(fiber);
    const auto first = std::ranges::find_if(all, [this](Address frame) { return !names_.isOfWeft(frame); });
    return first != all.end() ? std::span(first, all.end()) : all;
  }

  const Snapshot& snapshot_;
  Names& names_;
  FixedArray<uint32_t> slots_;   // one more than a group's number; 0: free
  FixedArray<uint32_t> firsts_;  // of each group
  uint32_t size_ = 0;
};

}  // namespace

FiberGroups::FiberGroups(const Snapshot& snapshot, Names& names, std::pmr::memory_resource* memory,
                         Fiber::State state)
    : state_(state), isRefused_(!group(snapshot, names, memory)) {}

bool FiberGroups::group(const Snapshot& snapshot, Names& names, std::pmr::memory_resource* memory) {
  const auto numFibers = static_cast<size_t>(std::ranges::count(snapshot.fibers, state_, &Fiber::state));
  members_ = FixedArray<uint32_t>(memory, numFibers);
  FixedArray<uint32_t> groupOf(memory, numFibers);
  GroupNumbers numbers(snapshot, names, memory, numFibers);
  if (members_.isRefused() || groupOf.isRefused() || numbers.isRefused()) {
    return false;
  }
  size_t next = 0;
  for (uint32_t i = 0; i < snapshot.fibers.size(); ++i) {
    if (snapshot.fibers[i].state == state_) {
      groupOf[next++] = numbers.of(i);
    }
  }
  groups_ = FixedArray<FiberGroup>(memory, numbers.size());
  if (groups_.isRefused()) {
    return false;
  }
  for (uint32_t i = 0; i < groups_.size(); ++i) {
    groups_[i].first = numbers.firstOf(i);
  }
  gather(snapshot, groupOf.all());
  for (FiberGroup& group : groups_.all()) {
    summarize(snapshot, group);
  }
  std::ranges::sort(groups_.all(), [&](const FiberGroup& a, const FiberGroup& b) {
    const bool isOutside = isOutsideOfTasks(snapshot.fibers[a.first]);
    if (isOutside != isOutsideOfTasks(snapshot.fibers[b.first])) {
      return !isOutside;  // it mostly waits for the tasks
    }
    if (a.numMembers != b.numMembers) {
      return a.numMembers > b.numMembers;
    }
    return a.longest != b.longest ? a.longest > b.longest : a.first < b.first;
  });
  return true;
}

// Puts the members of each group beside each other.
void FiberGroups::gather(const Snapshot& snapshot, std::span<const uint32_t> groupOf) {
  for (const uint32_t group : groupOf) {
    ++groups_[group].numMembers;
  }
  uint32_t begin = 0;
  for (FiberGroup& group : groups_.all()) {
    group.firstMember = begin;
    begin += group.numMembers;
    group.numMembers = 0;
  }
  size_t next = 0;
  for (uint32_t i = 0; i < snapshot.fibers.size(); ++i) {
    if (snapshot.fibers[i].state == state_) {
      FiberGroup& group = groups_[groupOf[next++]];
      members_[group.firstMember + group.numMembers++] = i;
    }
  }
}

void FiberGroups::summarize(const Snapshot& snapshot, FiberGroup& group) {
  const std::span<uint32_t> members = members_.all().subspan(group.firstMember, group.numMembers);
  const auto objectOf = [&](uint32_t i) { return snapshot.fibers[i].object; };
  // Most often it is one object, or they come in order already.
  if (!std::ranges::is_sorted(members, {}, objectOf)) {
    std::ranges::sort(members, [&](uint32_t a, uint32_t b) {
      return objectOf(a) != objectOf(b) ? objectOf(a) < objectOf(b) : a < b;
    });
  }
  group.shortest = group.longest = snapshot.fibers[members[0]].blockedFor;
  group.numObjects = 1;
  for (size_t i = 1; i < members.size(); ++i) {
    group.shortest = std::min(group.shortest, snapshot.fibers[members[i]].blockedFor);
    group.longest = std::max(group.longest, snapshot.fibers[members[i]].blockedFor);
    group.numObjects += objectOf(members[i]) != objectOf(members[i - 1]);
  }
  for (size_t begin = 0, end = 0; begin < members.size(); begin = end) {
    while (end < members.size() && objectOf(members[end]) == objectOf(members[begin])) {
      ++end;
    }
    const uint32_t numWaiters = snapshot.fibers[members[begin]].numWaiters;  // 0: not known
    const auto numOwn = static_cast<uint32_t>(end - begin);
    group.numOthers += numWaiters > numOwn ? numWaiters - numOwn : 0;
  }
}

}  // namespace weft::inline v0_1::detail::inspect
