// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/recording_reader.h"

#include <algorithm>
#include <cstring>

namespace weft::inline v0_1::detail::inspect {
namespace {

// More would be a sign of damage.
constexpr uint32_t kMostRings = 1u << 16;

class RecordingReader {
 public:
  RecordingReader(const Memory& memory, const Offsets& offsets, Recording& recording)
      : memory_(memory), offsets_(offsets), recording_(recording) {}

  bool read() {
    const Address recorder = offsets_.recorder;
    recording_.startedAt = get<uint64_t>(recorder + offsets_.recorderStartedAt);
    recording_.stoppedAt = get<uint64_t>(recorder + offsets_.recorderStoppedAt);
    recording_.numRefused = get<uint64_t>(recorder + offsets_.recorderNumRefused);
    const ClockReading ofSchedulers = readingAt(offsets_.firstReading);
    recording_.first =
        ofSchedulers.nanoseconds != 0 ? ofSchedulers : readingAt(recorder + offsets_.recorderReading);
    auto thread = get<Address>(recorder + offsets_.recorderNewest);
    for (uint32_t i = 0; thread != 0 && i < kMostRings; ++i) {
      readThread(thread);
      thread = get<Address>(thread + offsets_.traceOlder);
    }
    return recording_.startedAt != 0;
  }

 private:
  // Returns: zero where it cannot be read.
  template <class T>
  T get(Address address) const {
    T value{};
    return memory_.get(address, value) ? value : T{};
  }

  ClockReading readingAt(Address address) const {
    return {get<uint64_t>(address + offsets_.readingTicks),
            get<int64_t>(address + offsets_.readingNanoseconds)};
  }

  void readThread(Address address) {
    Recording::Thread& thread = recording_.addThread();
    thread.number = get<uint32_t>(address + offsets_.traceNumber);
    thread.threadId = get<int32_t>(address + offsets_.traceThreadId);
    thread.hasEnded = get<bool>(address + offsets_.traceHasEnded);
    char name[16] = {};
    (void)memory_.get(address + offsets_.traceName, name);
    thread.name.assign(name, strnlen(name, sizeof name));
    readEvents(address, thread);
  }

  // See EventRing: what the writer may have written over meanwhile is left out.
  void readEvents(Address address, Recording::Thread& thread) {
    const auto capacity = get<uint64_t>(address + offsets_.traceMask) + 1;
    const uint64_t end = numWritten(address);
    if (capacity == 0 || capacity > kMostTraceEvents || (capacity & (capacity - 1)) != 0) {
      return;
    }
    const uint64_t begin =
        std::max(get<uint64_t>(address + offsets_.traceFirst), end - std::min(end, capacity));
    if (begin >= end) {
      return;
    }
    thread.events.resize(end - begin);
    const auto slots = get<Address>(address + offsets_.traceSlots);
    const uint64_t start = begin & (capacity - 1);
    const uint64_t numFirst = std::min(end - begin, capacity - start);
    const bool isRead = readSlots(slots + start * sizeof(TraceEvent), thread.events.data(), numFirst) &&
                        readSlots(slots, thread.events.data() + numFirst, end - begin - numFirst);
    const uint64_t now = numWritten(address);
    const uint64_t intact = isRead ? firstIntact(now, capacity) : end;
    const uint64_t numLost = std::clamp(intact, begin, end) - begin;
    thread.events.erase(thread.events.begin(), thread.events.begin() + static_cast<std::ptrdiff_t>(numLost));
    thread.followsAnother = get<uint64_t>(address + offsets_.traceFirst) != 0;
    thread.numOverwritten = begin + numLost - get<uint64_t>(address + offsets_.traceFirst);
  }

  uint64_t numWritten(Address address) const { return get<uint64_t>(address + offsets_.traceNumWritten); }

  bool readSlots(Address from, TraceEvent* to, uint64_t count) const {
    return count == 0 || memory_.read(from, to, count * sizeof(TraceEvent));
  }

  const Memory& memory_;
  const Offsets& offsets_;
  Recording& recording_;
};

}  // namespace

bool readRecording(const Memory& memory, const Offsets& offsets, Recording& recording) {
  return RecordingReader(memory, offsets, recording).read();
}

}  // namespace weft::inline v0_1::detail::inspect
