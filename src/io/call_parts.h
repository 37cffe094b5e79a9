// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <span>

// How much of what is to be read or written goes into one system call.
namespace weft::inline v0_1::detail {

// The parts that one call can take, without empty parts in front: such a call returns 0, as at the end.
inline std::span<const iovec> partsOfOneCall(std::span<const iovec> parts) {
  const auto isFull = [](const iovec& part) { return part.iov_len != 0; };
  const auto numEmpty = std::find_if(parts.begin(), parts.end(), isFull) - parts.begin();
  parts = parts.subspan(static_cast<size_t>(numEmpty));
  return parts.first(std::min<size_t>(parts.size(), IOV_MAX));
}

// What a pipe takes at once if poll(2) has said that it has room: PIPE_BUF bytes. `part` has them where the
// first part is larger.
inline std::span<const iovec> partsForPipe(std::span<const iovec> parts, iovec& part) {
  size_t count = 0;
  for (size_t left = PIPE_BUF; count < parts.size() && parts[count].iov_len <= left; ++count) {
    left -= parts[count].iov_len;
  }
  if (count != 0 || parts.empty()) {
    return parts.first(count);
  }
  part = {parts[0].iov_base, PIPE_BUF};
  return {&part, 1};
}

}  // namespace weft::inline v0_1::detail
