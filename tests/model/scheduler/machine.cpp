// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "machine.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "os/stack_overflow.h"
#include "os/stack_pool.h"
#include "os/stack_use.h"
#include "scheduler/core/overflow_report.h"
#include "scheduler/core/watchdog.h"
#include "scheduler/report/dump.h"
#include "scheduler/report/symbol.h"
#include "scheduler/worker/process_fork.h"
#include "weft/debug.h"
#include "weft/detail/base/node_pool.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/park/parker.h"
#include "weft/thread.h"

// What src/os is to the library, on the checker. The switch of fibers is the real one.

extern "C" {
extern char __data_start, _end;
}

namespace weft {
namespace model {
namespace {

using detail::Parker;

// A NativeThread, on the thread of the checker with the same index.
struct Thread {
  Parker<> begin;
  Parker<> end;
  void (*entry)(void*) = nullptr;
  void* argument = nullptr;
};

constexpr size_t kMostParkers = 8;

// What a run has. It lies in static memory without being an object of it, as its atomics belong to the run.
struct State {
  Thread threads[kWorkers];
  unsigned numThreads = 0;
  Parker<> parkers[kMostParkers];
  Parker<>* freeParkers[kMostParkers];
  size_t numFreeParkers = 0;
  size_t numParkers = 0;
  Parker<>* parkerOfThread[kWorkers + 1] = {};
  int64_t time = 0;  // nanoseconds
};

State* state = nullptr;
char* stateMemory = nullptr;

constexpr size_t kMostStacks = 64;
constexpr size_t kStackSize = 128 * 1024;

detail::Stack freeStacks[kMostStacks];
size_t numFreeStacks = 0;

MachineAllocator machineAllocator;

struct Header {
  void* block;
  size_t size;
};

}  // namespace

bool isStatic(const void* object) {
  const bool isInRun = rl::is_ctx() && rl::ctx().threadx_ != nullptr && state != nullptr;
  const auto* place = static_cast<const char*>(object);
  return !isInRun || (place >= &__data_start && place < &_end);
}

Machine::Machine() {
  cells.begin();
  if (stateMemory == nullptr) {
    stateMemory = static_cast<char*>(std::malloc(sizeof(State)));
  }
  resetThreadLocals();
  // Not null: what is made from now on belongs to the run.
  state = reinterpret_cast<State*>(stateMemory);
  ::new (stateMemory) State();
}

Machine::~Machine() {
  cells.endAll();
  state = nullptr;
}

void Machine::runThread(unsigned index) {
  detail::currentFiber = nullptr;
  detail::currentTask = nullptr;
  detail::currentLocalDeque = nullptr;
  if (index >= kWorkers) {
    return;
  }
  Thread& thread = state->threads[index];
  thread.begin.park();
  if (thread.entry != nullptr) {
    thread.entry(thread.argument);
    thread.end.unpark();
  }
}

void Machine::noMoreThreads() {
  for (unsigned i = state->numThreads; i < kWorkers; ++i) {
    state->threads[i].begin.unpark();
  }
}

// The memory is aligned to a cache line, since addresses carry flags in their low bits.
Allocation MachineAllocator::allocate(const Allocation::Request& request) {
  constexpr size_t kAlignment = 64;
  char* const block = static_cast<char*>(
      rl::rl_malloc(request.size + kAlignment + sizeof(Header), Place{__FILE__, __LINE__}.info()));
  const auto place = reinterpret_cast<uintptr_t>(block) + sizeof(Header);
  char* const memory = block + sizeof(Header) + (kAlignment - place % kAlignment) % kAlignment;
  reinterpret_cast<Header*>(memory)[-1] = {block, request.size};
  Allocation allocation;
  allocation.request = request;
  allocation.ptr = memory;
  return allocation;
}

void MachineAllocator::free(const Allocation& allocation) {
  const Header header = static_cast<Header*>(allocation.ptr)[-1];
  check(header.size == allocation.request.size, "memory is given back as it was asked for");
  cells.endIn(allocation.ptr, header.size);
  rl::rl_free(header.block, Place{__FILE__, __LINE__}.info());
}

}  // namespace model

Allocator* Allocator::Default = &model::machineAllocator;
Allocator::~Allocator() = default;

namespace {

// Time passes whenever a thread looks at it: by `little`, or by `much`.
int64_t timeAfter(int64_t little, int64_t much) {
  return model::state == nullptr ? 0 : model::state->time += rl::rand(4) == 0 ? much : little;
}

}  // namespace

// Much is more than any thread searches for work.
std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  return time_point(nanoseconds(timeAfter(10'000, 2'000'000)));
}

inline namespace v0_1 {

size_t pageSize() noexcept { return 4096; }

void fatal(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char message[512];
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  rl::ctx().fail_test(message, rl::test_result_user_assert_failed, model::Place{__FILE__, __LINE__}.info());
  std::abort();
}

void warn(const char*, ...) {}

namespace detail {

// Much is more than lies between two turns of others.
uint64_t ticks() { return static_cast<uint64_t>(timeAfter(1'000, 200'000)); }

void fatalAt(const char* file, int line, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char message[512];
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  rl::ctx().fail_test(message, rl::test_result_user_assert_failed, model::Place{file, line}.info());
  std::abort();
}

void reportMovedFrom(const char*) { fatal("a handle that was moved from"); }
void reportEmptyFunction(const char*) { fatal("an empty function"); }
void reportNullAllocator(const char*) { fatal("a null allocator"); }
void dumpToStderr(const Scheduler*) noexcept {}
void obeyTraceVariable() noexcept {}
Symbol::Symbol(const void* address) noexcept { std::snprintf(text, sizeof text, "%p", address); }
void obeyDumpSignal() noexcept {}
void obeyWatchdogVariable() noexcept {}
void throwOrDie(std::exception_ptr) { fatal("an exception"); }
void setNotExecuted(EscapedException&) { fatal("a task that was dropped"); }
void writeStderr(const char*, size_t) noexcept {}

size_t allocationBytes(size_t size, size_t count) { return size * count; }

void agreeOnFences() {}
SchedulerExists::SchedulerExists() noexcept = default;
SchedulerExists::~SchedulerExists() = default;
ListedScheduler::ListedScheduler() noexcept = default;
ListedScheduler::~ListedScheduler() = default;
void assertNotForked(const char*) noexcept {}
void assertBindingNotLost(const char*) noexcept {}

void relax(uint32_t& round) noexcept { StdSync::relax(round); }

uintptr_t lowestTouched(uintptr_t, uintptr_t) noexcept { return 0; }

void installOverflowHandler(OverflowHook) noexcept {}
bool reportOverflow(const CurrentStack&, const siginfo_t&, const ucontext_t&) noexcept { return false; }
AlternateStack::AlternateStack() noexcept = default;
AlternateStack::~AlternateStack() = default;

bool StdSync::futexWait(Atomic<uint32_t>& word, uint32_t expected, const TimePoint* deadline,
                        const char* file, int line) {
  const bool isInTime =
      model::RelacySync::futexWait(word.checked(file, line), expected, deadline, file, line);
  if (!isInTime) {
    const int64_t end = deadline->time_since_epoch().count();
    model::state->time = model::state->time < end ? end : model::state->time;
  }
  return isInTime;
}

void* allocateNode(NodeSize size) {
  Allocation::Request request;
  request.size = size == NodeSize::Line ? kLine : 2 * kLine;
  return Allocator::Default->allocate(request).ptr;
}

void freeNode(void* node, NodeSize size) noexcept {
  Allocation allocation;
  allocation.ptr = node;
  allocation.request.size = size == NodeSize::Line ? kLine : 2 * kLine;
  Allocator::Default->free(allocation);
}

// A late wake may reach the next owner of a parker, as in the library.
Parker<>* acquireParker() {
  model::State& state = *model::state;
  if (state.numFreeParkers == 0) {
    model::check(state.numParkers < model::kMostParkers, "there is a parker for each thread");
    return &state.parkers[state.numParkers++];
  }
  Parker<>* const parker = state.freeParkers[--state.numFreeParkers];
  parker->tryPark();
  return parker;
}

void releaseParker(Parker<>* parker) {
  model::State& state = *model::state;
  state.freeParkers[state.numFreeParkers++] = parker;
}

Parker<>& threadParker() {
  Parker<>*& own = model::state->parkerOfThread[rl::ctx().current_thread()];
  if (own == nullptr) {
    own = acquireParker();
  }
  return *own;
}

StackPool::StackPool(size_t stackSize, Tables* tables)
    : stackSize_(stackSize), stride_(stackSize), tables_(tables), fresh_(0) {}

StackPool& StackPool::forSize(size_t) {
  static auto* const pool = ::new (std::malloc(sizeof(StackPool))) StackPool(model::kStackSize, nullptr);
  return *pool;
}

uint32_t StackPool::acquireBatch(Stack* stacks, uint32_t count) noexcept {
  for (uint32_t i = 0; i < count; ++i) {
    if (model::numFreeStacks == 0) {
      stacks[i].base = std::malloc(model::kStackSize);
      stacks[i].size = model::kStackSize;
    } else {
      stacks[i] = model::freeStacks[--model::numFreeStacks];
    }
  }
  return count;
}

void StackPool::releaseBatch(const Stack* stacks, uint32_t count) noexcept {
  for (uint32_t i = 0; i < count; ++i) {
    release(stacks[i]);
  }
}

void StackPool::release(const Stack& stack) noexcept {
  model::check(model::numFreeStacks < model::kMostStacks, "there are not that many stacks");
  model::freeStacks[model::numFreeStacks++] = stack;
}

void StackPool::trim(size_t) noexcept {}
StackPool::Stats StackPool::stats() noexcept { return {}; }
TimePoint StackPool::giveBackSurplus(TimePoint) noexcept { return TimePoint::max(); }
size_t StackPool::guardSize() noexcept { return 0; }

}  // namespace detail

unsigned detail::numUsableCpus() { return model::kWorkers; }

Thread::Affinity::Affinity(Allocator* allocator) : cores_(allocator) {}
Thread::Affinity::Affinity(Affinity&&) noexcept = default;

// The checker starts its threads before the program. This lets the next one go.
int detail::NativeThread::start(void (*entry)(void*), void* argument, const Options&) noexcept {
  const unsigned index = model::state->numThreads++;
  model::check(index < model::kWorkers, "there is a thread of the checker for each worker");
  model::Thread& thread = model::state->threads[index];
  thread.entry = entry;
  thread.argument = argument;
  entry_ = entry;
  argument_ = &thread;
  joinable_ = true;
  thread.begin.unpark();
  return 0;
}

void detail::NativeThread::join() noexcept {
  static_cast<model::Thread*>(argument_)->end.park();
  joinable_ = false;
}

detail::NativeThread::~NativeThread() {
  model::check(!joinable_, "a thread is joined before its object ends");
}

}  // namespace v0_1
}  // namespace weft
