// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/thread.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "os/topology.h"
#include "weft/debug.h"

namespace weft::inline v0_1 {
namespace {

// The processors that Linux can have: 8192 at most, of which a cpu_set_t holds 1024.
class CpuMask {
 public:
  static constexpr size_t kMax = 8192;

  CpuMask() noexcept { CPU_ZERO_S(sizeof(words_), words_); }

  // Returns: whether the system told which processors the calling thread may use.
  bool readFromThread() noexcept { return ::sched_getaffinity(0, sizeof(words_), words_) == 0; }

  // Calls create(), which starts a thread with `attributes`: it may use the processors of this mask only.
  // Returns: the error of create(), or that of binding: EINVAL where the process may use none of the
  // processors.
  template <class Create>
  int startWith([[maybe_unused]] pthread_attr_t& attributes, Create&& create) const noexcept {
#if defined(__GLIBC__)
    int error = ::pthread_attr_setaffinity_np(&attributes, sizeof(words_), words_);
    error = error == 0 ? create() : error;
    ::pthread_attr_setaffinity_np(&attributes, 0, words_);  // threads inherit again
#else
    // Without that call: a thread inherits the mask of its creator.
    CpuMask own;
    const bool isKnown = own.readFromThread();
    if (::sched_setaffinity(0, sizeof(words_), words_) != 0) {
      return errno;
    }
    const int error = create();
    if (isKnown) {
      ::sched_setaffinity(0, sizeof(words_), own.words_);
    }
#endif
    return error;
  }

  void add(size_t cpu) noexcept {
    if (cpu < kMax) {
      CPU_SET_S(cpu, sizeof(words_), words_);
    }
  }
  bool has(size_t cpu) const noexcept { return CPU_ISSET_S(cpu, sizeof(words_), words_); }

  bool operator==(const CpuMask& other) const noexcept {
    return CPU_EQUAL_S(sizeof(words_), words_, other.words_) != 0;
  }

 private:
  cpu_set_t words_[kMax / CPU_SETSIZE];
};

Thread::Core coreAt(size_t index) {
  Thread::Core core;
  core.pthread.index = static_cast<uint16_t>(index);
  return core;
}

}  // namespace

Thread::Affinity::Affinity(Allocator* allocator) : cores_(allocator) {}

Thread::Affinity::Affinity(std::initializer_list<Core> cores, Allocator* allocator)
    : cores_(cores, allocator) {
  normalize();
}

Thread::Affinity::Affinity(std::span<const Core> cores, Allocator* allocator)
    : cores_(cores.begin(), cores.end(), allocator) {
  normalize();
}

Thread::Affinity::Affinity(const Affinity& other, Allocator* allocator) : cores_(other.cores_, allocator) {}

Thread::Affinity::Affinity(Affinity&& other) noexcept = default;

Thread::Affinity& Thread::Affinity::operator=(Affinity&& other) noexcept = default;

Thread::Affinity Thread::Affinity::all(Allocator* allocator) {
  Affinity affinity(allocator);
  CpuMask mask;
  const bool known = mask.readFromThread();
  const size_t end = known ? CpuMask::kMax : numLogicalCPUs();
  for (size_t cpu = 0; cpu < end; ++cpu) {
    if (!known || mask.has(cpu)) {
      affinity.cores_.push_back(coreAt(cpu));
    }
  }
  return affinity;
}

Thread::Affinity Thread::Affinity::performanceCores(Allocator* allocator) {
  detail::assertAllocator(allocator, "Thread::Affinity::performanceCores()");
  return detail::performanceCores(detail::Topology("", all(allocator)), allocator);
}

Thread::Core Thread::Affinity::operator[](size_t index) const {
  WEFT_ASSERT(index < cores_.size(), "Thread::Affinity: there is no processor %zu of %zu.", index,
              cores_.size());
  return cores_[index];
}

Thread::Affinity& Thread::Affinity::add(const Affinity& other) {
  if (this != &other) {
    cores_.insert(cores_.end(), other.cores_.begin(), other.cores_.end());
    normalize();
  }
  return *this;
}

Thread::Affinity& Thread::Affinity::remove(const Affinity& other) {
  if (this == &other) {
    cores_.clear();
    return *this;
  }
  std::erase_if(
      cores_, [&](Core core) { return std::binary_search(other.cores_.begin(), other.cores_.end(), core); });
  return *this;
}

void Thread::Affinity::normalize() {
  std::sort(cores_.begin(), cores_.end());
  cores_.erase(std::unique(cores_.begin(), cores_.end()), cores_.end());
}

struct Thread::Impl {
  explicit Impl(Func&& f) : function(std::move(f)) {}

  Func function;
  detail::NativeThread native;
};

Thread::Thread() noexcept = default;

Thread::Thread(Affinity&& affinity, Func&& function) {
  WEFT_ASSERT(function != nullptr, "Thread: the function is empty. Give it something to run.");
  impl_ = std::make_unique<Impl>(std::move(function));
  detail::NativeThread::Options options;
  options.affinity = &affinity;
  const int error =
      impl_->native.start([](void* f) { (*static_cast<Func*>(f))(); }, &impl_->function, options);
  WEFT_ASSERT(error == 0,
              "Thread: the system starts no thread (%s). Use fewer threads, "
              "or raise the limits (ulimit -u, pids.max of the cgroup, kernel.threads-max).",
              std::strerror(error));
}

Thread::Thread(Thread&& other) noexcept = default;

Thread& Thread::operator=(Thread&& other) noexcept {
  WEFT_ASSERT(this == &other || impl_ == nullptr,
              "Thread: a thread that was not joined was assigned to. Call join() first.");
  impl_ = std::move(other.impl_);
  return *this;
}

Thread::~Thread() {
  WEFT_ASSERT(impl_ == nullptr, "Thread: a thread was destroyed before it was joined. Call join() first.");
}

void Thread::join() {
  WEFT_ASSERT(impl_ != nullptr,
              "Thread: join() without a thread: it was never started, was moved away, or was joined before.");
  impl_->native.join();
  impl_ = nullptr;
}

void Thread::setName(const char* format, ...) {
  char name[16];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(name, sizeof(name), format, arguments);
  va_end(arguments);
  ::pthread_setname_np(::pthread_self(), name);
}

unsigned int Thread::numLogicalCPUs() {
  const long count = ::sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<unsigned int>(count) : 1;
}

namespace detail {
namespace {

// Room for the needs of a scheduler's own code, in case the limit of the environment (ulimit -s) is tiny.
constexpr size_t kMinStack = size_t{256} * 1024;

// Without -fstack-clash-protection, a frame that is larger than the guard steps over it.
constexpr size_t kGuard = size_t{64} * 1024;

struct Attributes {
  Attributes() noexcept : error(::pthread_attr_init(&value)) {}
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() {
    if (error == 0) {
      ::pthread_attr_destroy(&value);
    }
  }

  pthread_attr_t value;
  const int error;
};

int setStack(pthread_attr_t& attributes, size_t size) noexcept {
  if (size == 0) {
    ::pthread_attr_getstacksize(&attributes, &size);
    size = std::max(size, kMinStack);
  }
  size = alignUp(std::max(size, static_cast<size_t>(PTHREAD_STACK_MIN)), pageSize());
  const int error = ::pthread_attr_setstacksize(&attributes, size);
  return error != 0 ? error : ::pthread_attr_setguardsize(&attributes, std::max(kGuard, pageSize()));
}

// Returns: whether threads, which inherit their creator's mask, must be started with `mask`, filled in then.
bool needsMask(const Thread::Affinity* affinity, CpuMask& mask) noexcept {
  if (affinity == nullptr || affinity->count() == 0) {
    return false;
  }
  for (size_t i = 0; i < affinity->count(); ++i) {
    mask.add((*affinity)[i].pthread.index);
  }
  CpuMask current;
  return !current.readFromThread() || !(mask == current);
}

// Returns: whether the thread may start without its mask. A sandbox refuses the call with any error. Those of
// pthread_create() say that the system has no room for a thread.
bool isAboutMask(int error) noexcept { return error != 0 && error != EAGAIN && error != ENOMEM; }

}  // namespace

NativeThread::~NativeThread() {
  WEFT_ASSERT(!joinable_, "a thread was destroyed before it was joined. Call join() first.");
}

int NativeThread::start(void (*entry)(void*), void* argument, const Options& options) noexcept {
  WEFT_ASSERT(!joinable_, "a thread was started that runs already. Call join() first.");
  Attributes attributes;
  int error = attributes.error != 0 ? attributes.error : setStack(attributes.value, options.stackSize);
  if (error != 0) {
    return error;
  }
  entry_ = entry;
  argument_ = argument;
  std::snprintf(name_, sizeof(name_), "%s", options.name != nullptr ? options.name : "");
  const auto create = [&] { return ::pthread_create(&handle_, &attributes.value, &NativeThread::run, this); };
  CpuMask mask;
  const bool hasMask = needsMask(options.affinity, mask);
  error = hasMask ? mask.startWith(attributes.value, create) : create();
  if (hasMask && isAboutMask(error)) {
    const char* const reason = error == EINVAL ? "this process may use none of them" : std::strerror(error);
    error = create();
    if (error == 0) {
      WEFT_WARN(
          "thread %s: the system does not bind it to the processors of its affinity (%s). It is ignored.",
          name_, reason);
    }
  }
  joinable_ = error == 0;
  return error;
}

void NativeThread::join() noexcept {
  WEFT_ASSERT(joinable_, "join() without a thread: it was never started, or was joined before.");
  const int error = ::pthread_join(handle_, nullptr);
  WEFT_ASSERT(error == 0, "a thread cannot be joined (%s). A thread must not join itself.",
              std::strerror(error));
  joinable_ = false;
}

void* NativeThread::run(void* self) {
  const auto* thread = static_cast<const NativeThread*>(self);
  if (thread->name_[0] != '\0') {
    ::pthread_setname_np(::pthread_self(), thread->name_);
  }
  thread->entry_(thread->argument_);
  return nullptr;
}

}  // namespace detail
}  // namespace weft::inline v0_1
