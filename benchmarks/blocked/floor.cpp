// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// guard-and-touch   a first stack: install a guard below 1 MiB of address space, touch the page at its top
// touch             a wake: touch a fiber's control block, and then the top of its stack, in the order of
//                   wakes; the blocks lie side by side, the stacks as far apart as weft's

#include <sys/mman.h>
#include <unistd.h>

#include "problem.h"

namespace {

constexpr size_t kStackSize = 1024 * 1024;
constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL, Linux 6.13 and later

constexpr size_t kColours = 16;

size_t pageSize() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

char* reserve(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  bench::check(memory != MAP_FAILED, "mmap");
  return static_cast<char*>(memory);
}

void guardAndTouch(bench::Run& r) {
  const size_t page = pageSize();
  int64_t n = blocked::fibers(r);
  int64_t resident = bench::residentKib();
  char* base = reserve(static_cast<size_t>(n) * kStackSize);
  bool lightGuards = madvise(base, page, kGuardInstall) == 0;
  if (!lightGuards) {
    n = std::min<int64_t>(n, 30000);  // each mprotect guard costs two of the kernel's 65,530 mappings
  }
  double ns = r.onceNs([&] {
    for (int64_t i = 0; i < n; i++) {
      char* stack = base + static_cast<size_t>(i) * kStackSize;
      int error = lightGuards ? madvise(stack, page, kGuardInstall) : mprotect(stack, page, PROT_NONE);
      bench::check(error == 0, "guard");
      stack[kStackSize - 1 - 64 * (static_cast<size_t>(i) % kColours)] = 1;
    }
  });
  r.metric("first_ns", ns / static_cast<double>(n));
  r.metric("resident_bytes", blocked::perFiber(bench::residentKib() - resident, n));
  r.metric("guard_install", lightGuards ? 1 : 0);
}

struct alignas(64) Block {
  uint64_t words[24];  // as large as a control block may be
};

void touch(bench::Run& r) {
  const auto n = static_cast<size_t>(blocked::fibers(r));
  const size_t stride = kStackSize + pageSize();
  std::vector<Block> blocks(n);
  char* base = reserve(n * stride);
  double ns = r.medianNs([&] {
    for (size_t i = 0; i < n; i++) {
      for (size_t line = 0; line < 24; line += 8) {
        blocks[i].words[line]++;
      }
      auto* top = reinterpret_cast<volatile uint64_t*>(base + (i + 1) * stride - 512 - 64 * (i % kColours));
      *top = *top + 1;
    }
  });
  r.metric("touch_ns", ns / static_cast<double>(n));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "blocked", "floor",
                        {{"guard-and-touch", {1}, guardAndTouch}, {"touch", {1}, touch}});
}
