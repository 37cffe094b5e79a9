// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>

#include "io/descriptor_table.h"
#include "io/io_call.h"
#include "io/result.h"

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

struct FileWait;

// A worker's requests. For the worker's own thread.
class FileQueue {
 public:
  // Has poll() and park() of the reactor call takeDone() for `wait` once the request has a result.
  // Returns: 0, or an error number, and then there will be no result.
  virtual int begin(const FileRequest& request, FileWait& wait) = 0;
  // Asks the system to end the request early; a result comes in any case. Cannot fail: it needs no memory.
  virtual void cancel(FileWait& wait) = 0;

 protected:
  FileQueue() = default;
  ~FileQueue() = default;
};

// A fiber's wait for the result of a request. It lies in the fiber's frame, as the `data` of its Waiter. That
// is in the list of a slot, where a close or a cancel finds and claims it like any wait.
// The fiber does not return before the system has done with the request, which may use the fiber's buffer. A
// fiber that was claimed early asks to cancel the request, and waits for the result, which tells which of the
// two was first. All but the claim happens on the worker's thread.
struct FileWait : ReadinessWait {
  Waiter* waiter = nullptr;
  DescriptorSlot* slot = nullptr;
  int result = 0;  // as of system calls within Linux: a negative error number where it failed
  bool isDone = false;
  bool isAlone = false;  // was claimed, and waits for the result alone
};

// The request has its result: adds the waiter to `claimed` if it waits for that, and if nobody was faster.
void takeDone(FileWait& wait, int result, WaitList& claimed) noexcept;

// Has `queue` take the request, and suspends the fiber until there is a result.
// Requires: `queue` is that of `reactor`, which is that of the current worker.
IoResult awaitFile(ReadinessReactor& reactor, FileQueue& queue, const FileRequest& request,
                   const IoCall& call);

}  // namespace weft::inline v0_1::detail
