// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/base/throw_or_die.h"

#include "weft/cancellation.h"
#include "weft/channel.h"

namespace weft::inline v0_1::detail {

void throwOrDie(const ChannelClosed& error) { throw error; }

void throwOrDie(const TaskCanceled& error) { throw error; }

void throwOrDie(const std::invalid_argument& error) { throw error; }

void throwOrDie(std::exception_ptr exception) {
  std::exception_ptr thrown = std::move(exception);
  std::rethrow_exception(std::move(thrown));
}

std::exception_ptr makeUntypedException(const char* what) {
  return std::make_exception_ptr(std::runtime_error(what));
}

void callOrHandle(void (*call)(void*), void (*handle)(void*), void* argument) {
  try {
    call(argument);
  } catch (...) {
    handle(argument);
  }
}

void callAndEnd(void (*call)(void*), void (*end)(void*), void* argument) {
  struct AtEnd {
    ~AtEnd() { end(argument); }
    void (*end)(void*);
    void* argument;
  } const atEnd{end, argument};
  call(argument);
}

}  // namespace weft::inline v0_1::detail
