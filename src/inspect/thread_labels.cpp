// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/thread_labels.h"

#include "inspect/recorded_events.h"
#include "inspect/short_text.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

ThreadLabel readLabel(const Recording& recording, const Recording::Thread& thread, RecordedNames& names) {
  ThreadLabel label(thread);
  bool isOnFiber = false;  // what is named there is the fiber
  RecordedEvents events(recording, thread);
  RecordedEvent event;
  while (events.next(event)) {
    switch (event.kind) {
      case TraceKind::ThreadBound:
        label.setWorker(event.operand);
        isOnFiber = true;
        break;
      case TraceKind::FiberResumed:
        isOnFiber = true;
        break;
      case TraceKind::FiberLeft:
      case TraceKind::ThreadUnbound:
        isOnFiber = false;
        break;
      case TraceKind::TrackNamed:
        if (!isOnFiber && !event.text.empty()) {
          label.setName(names.keep(event.text));
        }
        break;
      default:
        break;
    }
  }
  return label;
}

}  // namespace

ThreadLabels::ThreadLabels(const Recording& recording, RecordedNames& names)
    : labels_(recording.memory()), tracks_(recording.memory()), byNumber_(recording.memory()) {
  for (uint32_t i = 0; i < recording.threads.size(); ++i) {
    const ThreadLabel& label = labels_.emplace_back(readLabel(recording, recording.threads[i], names));
    const ShortText track([&label](Text& out) { label.writeInFull(out); });
    tracks_.push_back(names.keep(track.view()));
    byNumber_.emplace(recording.threads[i].number, i);
  }
}

std::string_view ThreadLabels::trackOf(uint64_t number) const {
  const auto known = byNumber_.find(number);
  return known == byNumber_.end() ? "?" : tracks_[known->second];
}

}  // namespace weft::inline v0_1::detail::inspect
