// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>

#include "io/descriptor_table.h"
#include "io/result.h"
#include "weft/io/descriptor.h"

// Operations on files that a reactor has the system do, while the fiber waits for the result.
namespace weft::inline v0_1::detail {

// What the system is asked to do. `offset`: -1 stands for the file's own position.
struct FileRequest {
  enum class Kind : uint8_t { Read, Write, Sync, Open };

  Kind kind;
  int fd = -1;
  const iovec* parts = nullptr;
  int numParts = 0;
  int64_t offset = -1;
  const char* path = nullptr;
  int flags = 0;
  mode_t mode = 0;
};

// A fiber's wait for the result of a request. It lies in the fiber's frame, as the `data` of its Waiter,
// which is in the list of a slot. So a close and a cancel find it there, and claim it as any wait.
//
// Whoever claims it, the fiber does not return before the system has done with the request: until then the
// system may use the fiber's buffer. If it was claimed early, the fiber asks to cancel the request, and waits
// for the result, which tells which of the two was first. All but the claim happens on the worker's thread.
struct FileWait : ReadinessWait {
  Waiter* waiter = nullptr;
  DescriptorSlot* slot = nullptr;
  int result = 0;  // as of system calls within Linux: a negative error number where it failed
  bool isDone = false;
  bool isAlone = false;  // was claimed, and waits for the result alone
};

// The request has its result: adds the waiter to `claimed` if it waits for that, and if nobody was faster.
void takeDone(FileWait& wait, int result, WaitList& claimed) noexcept;

// Has `reactor` do the request, and suspends the fiber until there is a result.
// Requires: the reactor is that of the current worker, and does files.
IoResult awaitFile(ReadinessReactor& reactor, const FileRequest& request, DescriptorSlot& slot,
                   uint32_t generation, const io::Wait& limits, const char* what);

}  // namespace weft::inline v0_1::detail
