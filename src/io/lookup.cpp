// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/lookup.h"

#include <cerrno>
#include <mutex>
#include <optional>

#include "io/descriptor_table.h"
#include "io/io_call.h"
#include "weft/blockingcall.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/fiber.h"

namespace weft::inline v0_1::detail {
namespace {

using Share = std::shared_ptr<Lookup>;

void finish(Share* share) {
  Lookup& lookup = **share;
  DescriptorSlot& slot = slotOfNoDescriptor();
  Waiter* claimed = nullptr;
  {
    const std::scoped_lock guard(slot.lock);
    lookup.isDone = true;
    if (lookup.waiter != nullptr && lookup.waiter->isLinked) {
      slot.waiting.remove(*lookup.waiter);
      claimed = lookup.waiter;
    }
  }
  if (claimed != nullptr) {
    wake(*claimed);
  }
  delete share;
}

void lookUp(void* argument) {
  auto* const share = static_cast<Share*>(argument);
  Lookup& lookup = **share;
  if (share->use_count() == 1) {
    delete share;  // there was no thread for long, and nobody waits any more
    return;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  lookup.result = ::getaddrinfo(lookup.host.c_str(), lookup.service.c_str(), &hints, &found);
  lookup.systemError = errno;
  lookup.found.reset(lookup.result == 0 ? found : nullptr);
  finish(share);
}

void refuse(void* argument, int error) {
  auto* const share = static_cast<Share*>(argument);
  (*share)->result = EAI_SYSTEM;
  (*share)->systemError = error;
  finish(share);
}

}  // namespace

int awaitLookup(const std::shared_ptr<Lookup>& lookup, const io::Wait& limits) {
  if (const int ended = endedBy(limits); ended != 0) {
    return ended;
  }
  auto share = std::make_unique<Share>(lookup);
  DescriptorSlot& slot = slotOfNoDescriptor();
  Waiter& self = currentWaiter();
  ReadinessWait wait{.domain = currentIoDomain()};
  self.data = &wait;
  std::optional<IoWait> scope;
  if (currentFiber != nullptr) {
    scope.emplace(nullptr);
  }
  lookup->waiter = &self;
  if (const int error = addWaiter(slot, -1, 0, self); error != 0) {
    return error;
  }
  const auto claim = [&] { return unlinkIfLinked(self, slot.lock, slot.waiting); };
  startOnBlockingThread(&lookUp, &refuse, share.release());
  const WaitEnd end = blockStoppable(self, limits.deadline, limits.stop, claim, "io::resolve", nullptr);
  const std::scoped_lock guard(slot.lock);
  lookup->waiter = nullptr;
  return lookup->isDone ? 0 : errorOf(end, wait);
}

}  // namespace weft::inline v0_1::detail
