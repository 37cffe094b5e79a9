// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/thread_label.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// Returns: the number plus one of the worker whose thread the library has named so; 0 of other names.
uint64_t workerInName(std::string_view name) {
  constexpr std::string_view kPrefix = "weft:";
  uint64_t number = 0;
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) {
    return 0;
  }
  for (const char c : name.substr(kPrefix.size())) {
    if (c < '0' || c > '9') {
      return 0;
    }
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number + 1;
}

}  // namespace

void ThreadLabel::write(Text& out) const {
  // Without ThreadBound it may have become a worker before the recording.
  const uint64_t worker = worker_.has_value() ? *worker_ : workerInName(thread_.name);
  if (worker != 0) {
    (out << "worker ").decimal(worker - 1);
  } else {
    (out << (worker_.has_value() ? "bound thread " : "thread "))
        .decimal(static_cast<uint32_t>(thread_.threadId));
  }
}

void ThreadLabel::writeInFull(Text& out) const {
  const bool isNamed = workerInName(thread_.name) == 0;
  const std::string_view name = !name_.empty() || !isNamed ? name_ : std::string_view(thread_.name);
  if (!name.empty()) {
    out << name << " (";
  }
  write(out);
  out << (thread_.hasEnded ? ", has ended" : "") << (name.empty() ? "" : ")");
}

}  // namespace weft::inline v0_1::detail::inspect
