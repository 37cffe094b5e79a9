// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <poll.h>

#include <utility>

#include "weft/detail/channel/cases.h"
#include "weft/detail/io/readiness_case.h"
#include "weft/select.h"

// Cases of weft::select() for what comes from outside of the program. Needs the library weft::io.
//
//   weft::select(weft::io::onReadable(fd, [&] { count = weft::io::read(fd, buffer); }),
//                weft::onReceive(orders, [&](std::optional<int> order) { isOver = !order; }),
//                weft::onTimeout(std::chrono::seconds(5), [] { std::puts("idle"); }));
// A case that is not chosen has no effect. Those of one descriptor wait in line with the operations of fibers
// on it. A select() with such a case works on fibers and on threads, but not on a thread that has a wait
// handler: there a message ends the program. See docs/io.md#select.
namespace weft::inline v0_1::io {

// A case that happens when a read of `fd` would not wait, or a write to it, as poll(2) tells, and calls
// handler(). It reads and writes nothing. If others use the descriptor, they may be faster than the handler:
// read with a deadline in the past then. A disk file is always ready.
// The case also happens, so that the operation that follows tells the error, if `fd` is no open descriptor,
// if io::close() closes it meanwhile, after io::cancelAll(), and where the system refuses to wait for it.
// Lifetime: while select() waits, only io::close() may close the descriptor, or whoever else requests a stop.
template <class Handler = detail::Ignore>
[[nodiscard]] auto onReadable(int fd, Handler handler = {}) {
  return detail::PlainCase<Handler, detail::DescriptorCase>(std::move(handler), fd, POLLIN);
}
template <class Handler = detail::Ignore>
[[nodiscard]] auto onWritable(int fd, Handler handler = {}) {
  return detail::PlainCase<Handler, detail::DescriptorCase>(std::move(handler), fd, POLLOUT);
}

}  // namespace weft::inline v0_1::io

#include "weft/detail/base/macros_end.h"
