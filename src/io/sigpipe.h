// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <span>

namespace weft::inline v0_1::detail {

// Calls call(), which writes `parts`, and takes a SIGPIPE that it causes off the thread again. A blocking
// call that has written some when the last reader goes returns the count, and raises the signal too.
template <class Call>
ssize_t withoutSigpipe(std::span<const iovec> parts, const Call& call) {
  size_t size = 0;
  for (const iovec& part : parts) {
    size += part.iov_len;
  }
  sigset_t pipe{}, before{}, pending{};
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  const bool wasPending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const ssize_t result = call();
  const int error = errno;
  const bool mayBePending = result < 0 ? error == EPIPE : static_cast<size_t>(result) < size;
  if (mayBePending && !wasPending) {
    const timespec atOnce{};
    while (sigtimedwait(&pipe, nullptr, &atOnce) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return result;
}

}  // namespace weft::inline v0_1::detail
