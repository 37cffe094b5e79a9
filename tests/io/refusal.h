// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace weft::tests {

// Makes the system refuse a call to this thread and to those it starts, as container runtimes do.
inline void refuse(uint32_t call, uint32_t error) {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, steps};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::fputs("no filter for system calls\n", stderr);
    std::abort();
  }
}

// Makes the system refuse all threads from now on that are started without a size for their stacks: it has no
// room for half of all addresses.
inline void refuseThreads() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, ~size_t{0} / 2 + 1) != 0 ||
      pthread_setattr_default_np(&attributes) != 0) {
    std::fputs("threads need no stack of that size\n", stderr);
    std::abort();
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace weft::tests
