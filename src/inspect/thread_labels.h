// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inspect/recorded_names.h"
#include "inspect/recording.h"
#include "inspect/thread_label.h"

namespace weft::inline v0_1::detail::inspect {

// The labels of all threads of a recording. They are found before anything is drawn: what one thread has
// recorded names others.
class ThreadLabels {
 public:
  ThreadLabels(const Recording& recording, RecordedNames& names);

  // `thread`: an index.
  const ThreadLabel& operator[](uint32_t thread) const { return labels_[thread]; }

  // `thread`: an index. Returns: the name of that thread's track.
  std::string_view track(uint32_t thread) const { return tracks_[thread]; }
  // `number`: as in Woke. Returns: the name of that thread's track; "?" if the recording has no such thread.
  std::string_view trackOf(uint64_t number) const;

 private:
  std::pmr::vector<ThreadLabel> labels_;
  std::pmr::vector<std::string_view> tracks_;
  std::pmr::unordered_map<uint64_t, uint32_t> byNumber_;
};

}  // namespace weft::inline v0_1::detail::inspect
