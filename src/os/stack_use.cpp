// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/stack_use.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "weft/detail/base/task_scope.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {
namespace {

// In an entry of /proc/self/pagemap: Documentation/admin-guide/mm/pagemap.rst of Linux. mincore() would not
// do, as it does not know pages that are swapped out.
constexpr uint64_t kHasMemory = uint64_t{1} << 63;
constexpr uint64_t kIsSwapped = uint64_t{1} << 62;
constexpr size_t kEntriesAtOnce = 64;

constexpr uint64_t kPattern = 0x5743'a6b1'e0c9'7d35;  // of no address, and hardly of a number
constexpr size_t kLeftAlone = 256;                    // below the stack pointer: signals may write 128 bytes

uintptr_t firstWith(uint64_t bits, int pagemap, uintptr_t bottom, uintptr_t top) noexcept {
  const size_t page = pageSize();
  uint64_t entries[kEntriesAtOnce];
  for (uintptr_t place = bottom; place < top;) {
    const size_t wanted = std::min(kEntriesAtOnce, (top - place + page - 1) / page) * sizeof(uint64_t);
    const auto offset = static_cast<off_t>(place / page * sizeof(uint64_t));
    const ssize_t got = pread(pagemap, entries, wanted, offset);
    if (got < static_cast<ssize_t>(sizeof(uint64_t))) {
      return 0;
    }
    for (size_t i = 0; i < static_cast<size_t>(got) / sizeof(uint64_t); ++i, place += page) {
      if ((entries[i] & bits) != 0) {
        return place;
      }
    }
  }
  return top;
}

// Returns: the first word of [begin, end) that is not `clean` and not `cleanToo`.
[[gnu::noinline]] __attribute__((no_sanitize("address", "thread"))) uintptr_t
firstWritten(uintptr_t begin, uintptr_t end, uint64_t clean, uint64_t cleanToo) noexcept {
  for (uintptr_t place = begin; place < end; place += sizeof(uint64_t)) {
    const uint64_t word = *reinterpret_cast<const volatile uint64_t*>(place);
    if (word != clean && word != cleanToo) {
      return place;
    }
  }
  return end;
}

[[gnu::noinline]] __attribute__((no_sanitize("address", "thread"))) void paint(uintptr_t begin) noexcept {
  const uintptr_t end = stackPointer() - kLeftAlone;
  for (uintptr_t place = begin; place < end; place += sizeof(uint64_t)) {
    *reinterpret_cast<volatile uint64_t*>(place) = kPattern;
  }
}

}  // namespace

uintptr_t lowestTouched(uintptr_t bottom, uintptr_t top) noexcept {
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) {
    return 0;
  }
  const uintptr_t found = firstWith(kHasMemory | kIsSwapped, pagemap, alignUp(bottom, pageSize()), top);
  close(pagemap);
  return found;
}

StackPaint::StackPaint(uintptr_t bottom) noexcept
    : bottom_(bottom), painted_(std::max(bottom, lowestTouched(bottom, stackPointer()))) {
  paint(painted_);
}

uintptr_t StackPaint::lowestUsed() const noexcept {
  const uintptr_t end = stackPointer();
  const uintptr_t touched = std::max(bottom_, lowestTouched(bottom_, end));
  if (touched < painted_) {
    const uintptr_t pageEnd = std::min(painted_, touched + pageSize());
    const uintptr_t written = firstWritten(touched, pageEnd, 0, 0);
    return written != pageEnd ? written : touched;
  }
  return firstWritten(painted_, end, kPattern, kPattern);
}

}  // namespace weft::inline v0_1::detail
