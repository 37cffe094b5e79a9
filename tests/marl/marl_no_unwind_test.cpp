// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Code without tables for unwinding on a fiber's stack, as compilers at run time leave it there: it may wait,
// others may throw meanwhile on the same thread, and what it calls may throw as long as it catches that
// itself.

#include <marl/event.h>
#include <marl/scheduler.h>
#include <marl/waitgroup.h>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "with_scheduler.h"

namespace {

class MarlNoUnwindTest : public weft::tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(MarlNoUnwindTest);

#if defined(__x86_64__)
// sub rsp, 4104; mov rax, rdi; mov rdi, rsi; call rax; add rsp, 4104; ret
constexpr unsigned char kCode[] = {0x48, 0x81, 0xec, 0x08, 0x10, 0,    0,    0x48, 0x89, 0xf8, 0x48, 0x89,
                                   0xf7, 0xff, 0xd0, 0x48, 0x81, 0xc4, 0x08, 0x10, 0,    0,    0xc3};
#elif defined(__aarch64__)
// sub sp, sp, #4096; stp x29, x30, [sp, #-16]!; mov x2, x0; mov x0, x1; blr x2; ldp x29, x30, [sp], #16;
// add sp, sp, #4096; ret
constexpr uint32_t kCode[] = {0xd14007ff, 0xa9bf7bfd, 0xaa0003e2, 0xaa0103e0,
                              0xd63f0040, 0xa8c17bfd, 0x914007ff, 0xd65f03c0};
#elif defined(__riscv) && __riscv_xlen == 64
// lui t0, 1; sub sp, sp, t0; addi sp, sp, -16; sd ra, 0(sp); mv t1, a0; mv a0, a1; jalr t1; ld ra, 0(sp);
// lui t0, 1; addi t0, t0, 16; add sp, sp, t0; ret
constexpr uint32_t kCode[] = {0x000012b7, 0x40510133, 0xff010113, 0x00113023, 0x00050313, 0x00058513,
                              0x000300e7, 0x00013083, 0x000012b7, 0x01028293, 0x00510133, 0x00008067};
#endif

// A function made at run time: f(argument) on a frame that nothing describes.
class MadeAtRunTime {
 public:
  using Callee = void (*)(void*);

  MadeAtRunTime() {
    memory_ = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(memory_, kCode, sizeof kCode);
    mprotect(memory_, kSize, PROT_READ | PROT_EXEC);
    char* const begin = static_cast<char*>(memory_);
    __builtin___clear_cache(begin, begin + sizeof kCode);
  }
  ~MadeAtRunTime() { munmap(memory_, kSize); }
  MadeAtRunTime(const MadeAtRunTime&) = delete;
  MadeAtRunTime& operator=(const MadeAtRunTime&) = delete;

  void operator()(Callee callee, void* argument) const {
    reinterpret_cast<void (*)(Callee, void*)>(memory_)(callee, argument);
  }

 private:
  static constexpr size_t kSize = 4096;
  void* memory_;
};

void throwAndCatch() {
  int caught = 0;
  try {
    throw std::runtime_error("within");
  } catch (const std::runtime_error&) {
    ++caught;
  }
  EXPECT_EQ(caught, 1);
}

TEST_P(MarlNoUnwindTest, CodeWithoutUnwindTablesMayWaitWhileOthersThrow) {
  const MadeAtRunTime call;
  const marl::Event go(marl::Event::Mode::Manual);
  const marl::WaitGroup done(40);
  for (int i = 0; i < 20; ++i) {
    marl::schedule([=, &call] {
      call(
          [](void* event) {
            throwAndCatch();
            static_cast<const marl::Event*>(event)->wait();
            throwAndCatch();
          },
          const_cast<marl::Event*>(&go));
      done.done();
    });
    marl::schedule([=] {
      throwAndCatch();
      done.done();
    });
  }
  marl::schedule([=] { go.signal(); });
  done.wait();
}

}  // namespace
