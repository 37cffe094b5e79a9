// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The floor of a first guarded stack: install a guard below 1 MiB of address space, touch the page at its
// top.

#include <sys/mman.h>
#include <unistd.h>

#include "problem.h"

namespace {

constexpr size_t kStackSize = 1024 * 1024;
constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL, Linux 6.13 and later

void run(bench::Run& r) {
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  int64_t n = blocked::fibers(r);
  size_t size = static_cast<size_t>(n) * kStackSize;
  int64_t resident = bench::residentKib();
  auto* base = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0));
  bench::check(base != MAP_FAILED, "mmap");
  bool lightGuards = madvise(base, page, kGuardInstall) == 0;
  if (!lightGuards) {
    n = std::min<int64_t>(n, 30000);  // each mprotect guard costs two of the kernel's 65,530 mappings
  }
  double ns = r.onceNs([&] {
    for (int64_t i = 0; i < n; i++) {
      char* stack = base + static_cast<size_t>(i) * kStackSize;
      int error = lightGuards ? madvise(stack, page, kGuardInstall) : mprotect(stack, page, PROT_NONE);
      bench::check(error == 0, "guard");
      stack[kStackSize - 1 - 64 * static_cast<size_t>(i % 16)] = 1;
    }
  });
  r.metric("first_ns", ns / static_cast<double>(n));
  r.metric("resident_bytes", blocked::perFiber(bench::residentKib() - resident, n));
  r.metric("guard_install", lightGuards ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "blocked", "floor", {{"guard-and-touch", {1}, run}});
}
