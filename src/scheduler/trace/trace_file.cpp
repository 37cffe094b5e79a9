// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/trace/trace_file.h"

#include <algorithm>
#include <cstdio>
#include <forward_list>
#include <mutex>

#include "weft/debug.h"

namespace weft::inline v0_1::detail {

TraceFile& TraceFile::of(const char* path) {
  static constinit std::mutex mutex;
  static auto* const files = new std::forward_list<TraceFile*>();
  const std::string wanted(path);
  WEFT_ASSERT(!wanted.empty() && wanted.size() <= kLongestPath,
              "weft::trace: a path of %zu characters. Choose one of 1 to %zu.", wanted.size(), kLongestPath);
  const std::lock_guard<std::mutex> guard(mutex);
  const auto found = std::ranges::find(*files, wanted, [](const TraceFile* file) { return file->path_; });
  return found != files->end() ? **found : *files->emplace_front(new TraceFile(path));
}

void TraceFile::nextPath(bool isLast, char (&path)[PATH_MAX]) noexcept {
  const uint32_t number =
      std::min(numAsked_.fetch_add(1, std::memory_order_relaxed), isLast ? kMost : kMost - 1) + 1;
  const size_t slash = path_.rfind('/');
  const size_t dot = path_.rfind('.');
  const bool hasEnding = dot != path_.npos && (slash == path_.npos || dot > slash);
  const auto stem = static_cast<int>(hasEnding ? dot : path_.size());
  if (number == 1) {
    std::snprintf(path, sizeof path, "%s", path_.c_str());
  } else {
    std::snprintf(path, sizeof path, "%.*s-%u%s", stem, path_.c_str(), number, path_.c_str() + stem);
  }
}

}  // namespace weft::inline v0_1::detail
