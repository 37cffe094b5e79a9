// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/trace/recorder.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>

#include "os/thread_end.h"
#include "scheduler/trace/late_watch.h"
#include "scheduler/trace/triggers.h"
#include "scheduler/trace/wishes.h"
#include "weft/debug.h"

namespace weft::inline v0_1 {
namespace detail {

constinit std::atomic<bool> isTraceRecording{false};
constinit Recorder recorder;
constinit thread_local TraceThread* ownTraceThread = nullptr;

namespace {

// So many rings of threads that have ended are kept. Then a new thread gets the oldest of them.
constexpr int kKept = 32;

constexpr uint64_t kFewestEvents = 64;

// The calling thread has got no memory. It asks again once another recording has begun.
constinit thread_local uint64_t refusedSince = 0;

TraceThread* newThread(uint64_t capacity, uint32_t number) noexcept {
  const size_t size = sizeof(TraceThread) + capacity * sizeof(EventRing<>::Slot);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  // What mmap() gives is zero: to make the slots would touch each page.
  auto* const slots = reinterpret_cast<EventRing<>::Slot*>(static_cast<char*>(memory) + sizeof(TraceThread));
  static_assert(sizeof(TraceThread) % alignof(EventRing<>::Slot) == 0);
  return ::new (memory) TraceThread(slots, capacity, number);
}

// Returns: a ring of a thread that has ended, if there are many; else null. Requires: the mutex is held.
TraceThread* reuse(TraceThread* newest) noexcept {
  int numEnded = 0;
  TraceThread* oldest = nullptr;
  for (TraceThread* thread = newest; thread != nullptr; thread = thread->older) {
    // (1) acquire: sees the last event of the thread; pairs with (2).
    if (thread->hasEnded.load(std::memory_order_acquire)) {
      ++numEnded;
      oldest = thread;
    }
  }
  return numEnded > kKept ? oldest : nullptr;
}

// Called when a thread ends.
void leaveRing(void*) {
  if (TraceThread* const own = std::exchange(ownTraceThread, nullptr)) {
    if (own->untilNext != 0) {
      own->settle();
    }
    // (2) release: after the last event; pairs with (1).
    own->hasEnded.store(true, std::memory_order_release);
  }
}

}  // namespace

TraceThread* openTraceThread() noexcept {
  const uint64_t startedAt = recorder.startedAt.load(std::memory_order_relaxed);
  if (refusedSince == startedAt) {
    return nullptr;
  }
  const std::lock_guard<std::mutex> guard(recorder.mutex);
  TraceThread* const newest = recorder.newest.load(std::memory_order_relaxed);
  TraceThread* thread = reuse(newest);
  if (thread != nullptr) {
    // relaxed: see TraceThread.
    thread->first.store(thread->ring.numWritten(), std::memory_order_relaxed);
  } else {
    thread = newThread(recorder.capacity, newest != nullptr ? newest->number + 1 : 1);
    if (thread == nullptr) {
      refusedSince = startedAt;
      // relaxed: for who reads the rings.
      recorder.numRefused.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    thread->older = newest;
  }
  // relaxed, both: see TraceThread.
  thread->threadId.store(gettid(), std::memory_order_relaxed);
  thread->hasEnded.store(false, std::memory_order_relaxed);
  pthread_getname_np(pthread_self(), thread->name, sizeof thread->name);
  // (3) release: publishes a new ring to readers in the process.
  recorder.newest.store(newest == nullptr || newest->number < thread->number ? thread : newest,
                        std::memory_order_release);
  atThreadEnd(&leaveRing);
  ownTraceThread = thread;
  return thread;
}

TraceEvents& TraceEvents::addText(const char* text) noexcept {
  constexpr size_t kInHead = sizeof(uint64_t) - 1;
  constexpr size_t kInEvent = kInHead + sizeof(uint64_t);
  size_t left = std::min(std::strlen(text), inspect::kMostTraceText);
  // A text whose last event is full is ended by an empty one.
  for (bool isEnded = false; thread_ != nullptr && !isEnded; text += kInEvent) {
    char bytes[2 * sizeof(uint64_t)] = {static_cast<char>(TraceKind::Text)};
    const size_t length = std::min(left, kInEvent);
    std::memcpy(bytes + 1, text, length);
    left -= length;
    isEnded = length < kInEvent;
    uint64_t words[2];
    std::memcpy(words, bytes, sizeof words);
    if constexpr (std::endian::native == std::endian::big) {  // the kind is the lowest byte of a head
      words[0] = __builtin_bswap64(words[0]);
      words[1] = __builtin_bswap64(words[1]);
    }
    thread_->ring.write(words[0], words[1]);
  }
  return *this;
}

}  // namespace detail

namespace trace {
namespace {

void check(const Config& config) {
  using detail::kFewestEvents;
  using detail::inspect::kMostTraceEvents;
  constexpr std::chrono::nanoseconds kNone{0};
  WEFT_ASSERT(config.eventsPerThread >= kFewestEvents && config.eventsPerThread <= kMostTraceEvents,
              "trace::start(): %zu events for each thread. Choose from %zu to %zu; an event takes 16 bytes.",
              config.eventsPerThread, static_cast<size_t>(kFewestEvents),
              static_cast<size_t>(kMostTraceEvents));
  WEFT_ASSERT(config.longestRun >= kNone && config.longestWake >= kNone && config.dumpInterval >= kNone,
              "trace::start(): a time of Config is less than zero. Zero means that there is no limit.");
  WEFT_ASSERT(config.path != nullptr || (config.longestRun == kNone && config.longestWake == kNone),
              "trace::start(): Config has a longestRun or a longestWake, and no path. "
              "Set Config::path to the file that is to be written when that is exceeded.");
}

}  // namespace

using detail::recorder;

bool start(const Config& config) {
  check(config);
  const std::lock_guard<std::mutex> guard(recorder.mutex);
  if (isRecording()) {
    return false;
  }
  recorder.capacity = std::bit_ceil(uint64_t{config.eventsPerThread});
  detail::prepareTriggers(config.path, config.longestRun.count() != 0 || config.longestWake.count() != 0);
  detail::lateWatch.begin(config.longestRun, config.longestWake, config.dumpInterval);
  // relaxed, all: see Recorder.
  recorder.stoppedAt.store(0, std::memory_order_relaxed);
  if (recorder.reading.ticks == 0) {
    recorder.reading = detail::ClockReading::now();
  }
  recorder.startedAt.store(detail::ticks(), std::memory_order_relaxed);
  recorder.numRefused.store(0, std::memory_order_relaxed);
  detail::isTraceRecording.store(true, std::memory_order_relaxed);
  detail::wishes.word.fetch_or(detail::Wishes::kRecorded, std::memory_order_relaxed);
  // (3) release: who sees the change sees `reading` and the limits of lateWatch; pairs with the load in
  // Wishes::current(). A change also for a worker that has missed stop(): it must look at new limits.
  detail::wishes.word.fetch_add(detail::Wishes::kChange, std::memory_order_release);
  return true;
}

void stop() noexcept {
  const std::lock_guard<std::mutex> guard(recorder.mutex);
  if (isRecording()) {
    // relaxed, all: see Recorder.
    detail::isTraceRecording.store(false, std::memory_order_relaxed);
    detail::wishes.word.fetch_and(~detail::Wishes::kRecorded, std::memory_order_relaxed);
    recorder.stoppedAt.store(detail::ticks(), std::memory_order_relaxed);
    detail::lateWatch.end();
  }
}

}  // namespace trace
}  // namespace weft::inline v0_1
