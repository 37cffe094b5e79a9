// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/stack_overflow.h"

#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "os/environment.h"
#include "os/keep_loaded.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr size_t kSignalStackSize = size_t{64} * 1024;
std::mutex installMutex;
bool isInstalled = false;  // guarded by installMutex, as is isDisabled
bool isDisabled = false;

// The action before weft's. It is written before weft's is installed, and constant from then on.
struct sigaction previous;

// Null: claim no fault. Stored by install and disable, loaded by the handler.
constinit std::atomic<OverflowHook> overflowHook{nullptr};

void restoreDefaultAction(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

// Does what would have happened without weft.
void passOn(int signal, siginfo_t* info, void* context) {
  const bool isFault = info->si_code > 0;  // else the signal was sent
  const bool isSimple = (previous.sa_flags & SA_SIGINFO) == 0;
  if (isSimple && previous.sa_handler == SIG_IGN && !isFault) {
    return;
  }
  if (isSimple && (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)) {
    // A faulting instruction faults again after the return. A signal that was sent has to be sent again.
    restoreDefaultAction(signal);
    if (!isFault) {
      raise(signal);
    }
    return;
  }
  if ((previous.sa_flags & SA_NODEFER) != 0) {
    sigset_t self;
    sigemptyset(&self);
    sigaddset(&self, signal);
    pthread_sigmask(SIG_UNBLOCK, &self, nullptr);
  }
  if ((previous.sa_flags & SA_RESETHAND) != 0) {
    restoreDefaultAction(signal);
  }
  if (isSimple) {
    previous.sa_handler(signal);
  } else {
    previous.sa_sigaction(signal, info, context);
  }
}

void handleFault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  // (1) acquire: sees what the hook's own state was before install; pairs with (2).
  const OverflowHook hook = overflowHook.load(std::memory_order_acquire);
  const bool isFault = info->si_code > 0;  // else the signal was sent
  if (hook != nullptr && isFault && hook(*info, *static_cast<const ucontext_t*>(context))) {
    restoreDefaultAction(signal);
  } else {
    passOn(signal, info, context);
  }
  errno = error;
}

}  // namespace

void installOverflowHandler(OverflowHook hook) noexcept {
  keepLoaded();
  std::scoped_lock hold(installMutex);
  const char* const wish = environmentVariable("WEFT_OVERFLOW_HANDLER");
  if (isInstalled || isDisabled || (wish != nullptr && std::strcmp(wish, "0") == 0)) {
    return;
  }
  if (sigaction(SIGSEGV, nullptr, &previous) != 0) {
    return;
  }
  // (2) release: what the caller has set up for its hook; pairs with (1).
  overflowHook.store(hook, std::memory_order_release);
  struct sigaction action{};
  action.sa_sigaction = handleFault;
  action.sa_mask = previous.sa_mask;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous.sa_flags & SA_RESTART);
  isInstalled = sigaction(SIGSEGV, &action, nullptr) == 0;
}

void disableOverflowHandler() noexcept {
  std::scoped_lock hold(installMutex);
  isDisabled = true;
  // relaxed: a thread that still sees the hook faulted before the call, as far as anybody can tell.
  overflowHook.store(nullptr, std::memory_order_relaxed);
  struct sigaction current{};
  if (isInstalled && sigaction(SIGSEGV, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) != 0 &&
      current.sa_sigaction == handleFault) {
    sigaction(SIGSEGV, &previous, nullptr);
  }
}

namespace {

size_t signalStackSize() {
  const size_t frame = getauxval(AT_MINSIGSTKSZ);  // grows with the processor's registers; 0: unknown
  return alignUp(std::max(kSignalStackSize, 4 * frame), pageSize());
}

// Mapped signal stacks that no thread uses, kept since unmapping interrupts every processor of the process.
constexpr size_t kSignalStacksKept = 64;
constinit SpinLock keptLock;
constinit size_t numKept = 0;                  // guarded by keptLock
constinit void* kept[kSignalStacksKept] = {};  // guarded by keptLock

// Returns: the guard page with `usable` bytes above it, or null where there is no memory.
void* acquireSignalStack(size_t usable) {
  {
    std::scoped_lock guard(keptLock);
    if (numKept != 0) {
      return kept[--numKept];
    }
  }
  const size_t page = pageSize();
  void* memory = mmap(nullptr, page + usable, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  mprotect(memory, page, PROT_NONE);  // a failure leaves it without guard
  return memory;
}

void releaseSignalStack(void* memory, size_t size) {
  {
    std::scoped_lock guard(keptLock);
    if (numKept < kSignalStacksKept) {
      kept[numKept++] = memory;
      return;
    }
  }
  munmap(memory, size);
}

}  // namespace

AlternateStack::AlternateStack() noexcept {
  stack_t current{};
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  const size_t usable = signalStackSize();
  const size_t page = pageSize();
  void* memory = acquireSignalStack(usable);
  if (memory == nullptr) {
    return;
  }
  stack_t own{};
  own.ss_sp = static_cast<char*>(memory) + page;
  own.ss_size = usable;
  if (sigaltstack(&own, nullptr) != 0) {
    releaseSignalStack(memory, page + usable);
    return;
  }
  memory_ = memory;
  size_ = page + usable;
}

AlternateStack::~AlternateStack() {
  if (memory_ == nullptr) {
    return;
  }
  // Another signal stack may have been set since.
  stack_t current{};
  if (sigaltstack(nullptr, &current) == 0 && current.ss_sp > memory_ &&
      current.ss_sp < static_cast<char*>(memory_) + size_) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  releaseSignalStack(memory_, size_);
}

}  // namespace weft::inline v0_1::detail
