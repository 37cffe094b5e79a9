// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <netdb.h>

#include <memory>
#include <string>

#include "weft/detail/wait/waiter.h"
#include "weft/io/descriptor.h"

namespace weft::inline v0_1::detail {

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

// A getaddrinfo(3) call on a blocking thread. A wait that ends early leaves it; the last of both frees it.
struct Lookup {
  Lookup(const std::string& name, const std::string& port) : host(name), service(port) {}

  const std::string host, service;
  // By the thread, before isDone.
  int result = 0;       // of getaddrinfo(3)
  int systemError = 0;  // where that is EAI_SYSTEM, or the system has granted no thread
  std::unique_ptr<addrinfo, FreeAddresses> found{};
  // Guarded by the lock of slotOfNoDescriptor(), in whose list the waiter is.
  bool isDone = false;
  Waiter* waiter = nullptr;  // null when nobody waits, or nobody any more
};

// Begins `lookup` and waits for its end. Returns: 0, or the error number of `limits` or cancelAll().
int awaitLookup(const std::shared_ptr<Lookup>& lookup, const io::Wait& limits);

}  // namespace weft::inline v0_1::detail
