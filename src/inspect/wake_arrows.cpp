// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/wake_arrows.h"

#include <algorithm>
#include <tuple>

#include "inspect/recorded_events.h"

namespace weft::inline v0_1::detail::inspect {

WakeArrows::WakeArrows(const Recording& recording)
    : wakes_(recording.memory()),
      resumptions_(recording.memory()),
      isUsed_(recording.memory()),
      ends_(recording.memory()),
      beginnings_(recording.memory()) {
  for (uint32_t i = 0; i < recording.threads.size(); ++i) {
    read(recording, i);
  }
  join();
}

void WakeArrows::read(const Recording& recording, uint32_t thread) {
  RecordedEvents events(recording, recording.threads[thread]);
  const uint64_t number = recording.threads[thread].number;
  beginnings_.push_back(recording.threads[thread].isWhole() ? 0 : kNoTime);
  RecordedEvent event;
  while (events.next(event)) {
    beginnings_[thread] = std::min(beginnings_[thread], event.time);
    if (event.kind == TraceKind::Woke) {
      wakes_.push_back({event.operand, event.time, wakes_.size()});
    } else if (event.kind == TraceKind::FiberResumed) {
      const uint64_t fiber = withFiber(number, fiberIn(event.operand));
      resumptions_.push_back({fiber, event.time, resumptions_.size()});
      ends_.push_back({thread, event.index, {}});
    }
  }
}

void WakeArrows::join() {
  const auto isBefore = [](const FiberTime& a, const FiberTime& b) {
    return std::tie(a.fiber, a.time, a.ordinal) < std::tie(b.fiber, b.time, b.ordinal);
  };
  std::ranges::sort(wakes_, isBefore);
  std::ranges::sort(resumptions_, isBefore);
  isUsed_.resize(wakes_.size());
  auto wake = wakes_.begin();
  for (const FiberTime& resumption : resumptions_) {
    const FiberTime* newest = nullptr;
    for (; wake != wakes_.end() &&
           std::tie(wake->fiber, wake->time) <= std::tie(resumption.fiber, resumption.time);
         ++wake) {
      const bool isRecent = wake->time >= beginnings_[ends_[resumption.ordinal].thread];
      newest = wake->fiber == resumption.fiber && isRecent ? &*wake : nullptr;
    }
    if (newest != nullptr) {
      isUsed_[newest->ordinal] = true;
      ends_[resumption.ordinal].arrow = {newest->ordinal + 1, newest->time};
    }
  }
  std::erase_if(ends_, [](const End& end) { return end.arrow.id == 0; });
}

uint64_t WakeArrows::next() {
  const size_t wake = nextWake_++;
  return isUsed_[wake] ? wake + 1 : 0;
}

WakeArrows::Arrow WakeArrows::to(uint32_t thread, size_t event) {
  if (nextEnd_ == ends_.size() || ends_[nextEnd_].thread != thread || ends_[nextEnd_].event != event) {
    return {};
  }
  return ends_[nextEnd_++].arrow;
}

uint64_t WakeArrows::lastWake(uint32_t thread, uint64_t fiber) const {
  const uint64_t key = withFiber(thread, static_cast<uint32_t>(fiber));
  const auto after = std::ranges::upper_bound(wakes_, key, {}, &FiberTime::fiber);
  return after != wakes_.begin() && after[-1].fiber == key ? after[-1].time : kNoTime;
}

}  // namespace weft::inline v0_1::detail::inspect
