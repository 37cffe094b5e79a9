// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/processor_samples.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace weft::inline v0_1::detail::tools {
namespace {

using inspect::Registers;

constexpr uint32_t kStack = 16 << 10;  // of a sample

size_t systemPage() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// The size of the ring of the data, in which some samples fit: a power of two, in pages.
size_t ringSize() { return std::max(size_t{64} << 10, systemPage()); }

using processor::kInSample;
static_assert(std::popcount(processor::kSampled) == int{std::size(kInSample)});

}  // namespace

ProcessorSamples::ProcessorSamples(int threadId, std::chrono::nanoseconds period) {
  // Without special rights a process may not learn what a thread does in the kernel.
  if (!open(threadId, period, false) && !open(threadId, period, true)) {
    return;
  }
  void* const ring = mmap(nullptr, systemPage() + ringSize(), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (ring == MAP_FAILED) {
    error_ = errno;
    return;
  }
  ring_ = static_cast<char*>(ring);
}

ProcessorSamples::~ProcessorSamples() {
  if (ring_ != nullptr) {
    munmap(ring_, systemPage() + ringSize());
  }
  if (file_ >= 0) {
    close(file_);
  }
}

// Returns: whether the system allows it.
bool ProcessorSamples::open(int threadId, std::chrono::nanoseconds period, bool isKernelLeftOut) {
  perf_event_attr wish{};
  wish.type = PERF_TYPE_SOFTWARE;
  wish.size = sizeof wish;
  wish.config = PERF_COUNT_SW_TASK_CLOCK;
  wish.sample_period = static_cast<uint64_t>(period.count());
  wish.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  wish.sample_regs_user = processor::kSampled;
  wish.sample_stack_user = kStack;
  wish.exclude_kernel = isKernelLeftOut;
  wish.exclude_hv = 1;
  file_ = static_cast<int>(syscall(SYS_perf_event_open, &wish, threadId, -1, -1, PERF_FLAG_FD_CLOEXEC));
  error_ = file_ < 0 ? errno : 0;
  return file_ >= 0;
}

void ProcessorSamples::forEach(const Take& take) {
  if (ring_ == nullptr) {
    return;
  }
  auto& page = *reinterpret_cast<perf_event_mmap_page*>(ring_);
  // (1) acquire: sees the records before that position; pairs with the kernel's write of it.
  const uint64_t head = std::atomic_ref<__u64>(page.data_head).load(std::memory_order_acquire);
  uint64_t tail = page.data_tail;
  while (tail < head) {
    perf_event_header header{};
    copy(tail, &header, sizeof header);
    if (header.size < sizeof header || header.size > head - tail) {
      tail = head;  // it makes no sense
      break;
    }
    if (header.type == PERF_RECORD_SAMPLE) {
      sample_.resize(header.size - sizeof header);
      copy(tail + sizeof header, sample_.data(), sample_.size());
      parse(take);
    }
    tail += header.size;
  }
  // (2) release: the kernel writes over what lies before it; pairs with the kernel's read of it.
  std::atomic_ref<__u64>(page.data_tail).store(tail, std::memory_order_release);
}

// A record may lie across the end of the ring.
void ProcessorSamples::copy(uint64_t position, void* to, size_t size) const {
  const char* const data = ring_ + systemPage();
  const size_t begin = position % ringSize();
  const size_t first = std::min(size, ringSize() - begin);
  std::memcpy(to, data + begin, first);
  std::memcpy(static_cast<char*>(to) + first, data, size - first);
}

// A sample is: the kind of registers, these, the size of the room for the stack, the stack, the size of what
// lies there.
void ProcessorSamples::parse(const Take& take) const {
  constexpr size_t kHead = (2 + std::size(kInSample)) * sizeof(uint64_t);
  uint64_t words[2 + std::size(kInSample)];
  if (sample_.size() < kHead) {
    return;  // the thread was in the kernel for good, and has no registers
  }
  std::memcpy(words, sample_.data(), kHead);
  const uint64_t room = words[1 + std::size(kInSample)];
  if (words[0] != PERF_SAMPLE_REGS_ABI_64 || sample_.size() < kHead + room + (room != 0 ? sizeof room : 0)) {
    return;
  }
  uint64_t size = 0;
  if (room != 0) {
    std::memcpy(&size, sample_.data() + kHead + room, sizeof size);
  }
  Registers registers;
  for (size_t i = 0; i < std::size(kInSample); ++i) {
    registers.set(kInSample[i], words[1 + i]);
  }
  registers.isInterrupted = true;
  take(registers,
       {sample_.data() + kHead, std::min<size_t>(size, room), registers.values[Registers::kStackPointer]});
}

}  // namespace weft::inline v0_1::detail::tools
