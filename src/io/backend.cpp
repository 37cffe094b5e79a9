// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/backend.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "io/uring_system.h"
#include "os/environment.h"
#include "weft/debug.h"

namespace weft::inline v0_1::detail {
namespace {

// No io_uring, one that lacks what is asked for (before 6.1), or one that a sysctl or a filter forbids.
bool isRefusal(int error) { return error == ENOSYS || error == EPERM || error == EINVAL || error == EACCES; }

#ifdef WEFT_IO_URING
constexpr bool kHasUring = true;
#else
constexpr bool kHasUring = false;
int tryRing() { return ENOSYS; }
#endif

std::string_view askedFor() {
  const char* const asked = environmentVariable("WEFT_IO");
  const std::string_view name(asked != nullptr ? asked : "");
  WEFT_ASSERT(name.empty() || name == "epoll" || name == "uring",
              "the environment has WEFT_IO=%s, which names no backend. Set WEFT_IO=epoll or WEFT_IO=uring, "
              "or leave it unset.",
              asked);
  if (name == "uring" && !kHasUring) {
    WEFT_FATAL(
        "the environment has WEFT_IO=uring, but this weft::io is built without io_uring. Build it where "
        "there is liburing (apt-get install -y liburing-dev), set WEFT_IO=epoll, or leave it unset.");
  }
  return name;
}

IoBackend choose(int& error) {
  const std::string_view asked = askedFor();
  error = asked == "epoll" ? 0 : tryRing();
  if (error == 0 || !isRefusal(error)) {
    return asked == "epoll" ? IoBackend::Epoll : IoBackend::Uring;
  }
  if (asked == "uring") {
    WEFT_FATAL(
        "the environment has WEFT_IO=uring, but the system refuses io_uring: %s. It takes Linux 6.1, "
        "kernel.io_uring_disabled=0, and a container that permits io_uring_setup. Otherwise set "
        "WEFT_IO=epoll, or leave it unset.",
        std::strerror(error));
  }
  error = 0;
  return IoBackend::Epoll;
}

// -1 -> a backend, once.
constinit std::atomic<int> chosen{-1};

}  // namespace

IoBackend chosenBackend(int& error) noexcept {
  error = 0;
  // relaxed, both: the number says all. A thread that does not see it finds out the same.
  if (const int known = chosen.load(std::memory_order_relaxed); known >= 0) {
    return static_cast<IoBackend>(known);
  }
  const IoBackend found = choose(error);
  if (error == 0) {
    chosen.store(static_cast<int>(found), std::memory_order_relaxed);
  }
  return found;
}

}  // namespace weft::inline v0_1::detail
