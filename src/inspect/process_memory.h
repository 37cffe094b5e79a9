// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "inspect/memory.h"

namespace weft::inline v0_1::detail::inspect {

// The memory of a process that runs: of the calling process too, where it reads what may be unmapped at any
// time. Needs the right to trace the process, as a debugger does. Asks the kernel by process_vm_readv(), or
// where that is refused reads /proc/PID/mem, which gives protected pages too.
//
// Calls neither suspend the fiber, nor take locks, nor allocate. One thread at a time may use it.
// A call comes after those before it, in memory order too. The pieces of one call are in no order.
class ProcessMemory final : public Memory {
 public:
  enum class Way : uint8_t { Call, File };

  // `way`: File, to do at once what is done where the call is refused.
  explicit ProcessMemory(int processId, Way way = Way::Call)
      : processId_(processId), isRefused_(way == Way::File) {}
  ~ProcessMemory();
  ProcessMemory(const ProcessMemory&) = delete;
  ProcessMemory& operator=(const ProcessMemory&) = delete;

  [[nodiscard]] bool read(Address address, void* to, size_t size) const override;
  void readMany(Piece* pieces, size_t count) const override;

  // Returns: the errno value of the last read that failed; 0, if none has. EFAULT: nothing is mapped there.
  // EPERM: the calling process may not look at that one. ESRCH: that process has ended.
  int lastError() const { return lastError_; }

 private:
  size_t readSome(Piece* pieces, size_t count) const;
  bool readFile(Address address, void* to, size_t size) const;

  const int processId_;
  mutable int lastError_ = 0;
  mutable int file_ = -1;   // /proc/PID/mem; -1: not needed yet
  mutable bool isRefused_;  // process_vm_readv() is
};

}  // namespace weft::inline v0_1::detail::inspect
