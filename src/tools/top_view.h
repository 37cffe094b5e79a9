// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "inspect/names.h"
#include "inspect/snapshot.h"
#include "tools/worker_rates.h"

namespace weft::inline v0_1::detail::tools {

// Writes a number a second, with two digits that count: "0", "3.2", "120", "57k", "1.2M".
std::string rateText(double rate);

// Returns: the text, cut behind so many characters.
std::string cutLine(const std::string& line, size_t columns);

struct TopOptions {
  std::string heading;  // of the first line: the time, and which process it is
  size_t mostLines = std::numeric_limits<size_t>::max();
  size_t mostGroups = 10;
};

// Returns: the lines that `weft top` shows of a process.
std::vector<std::string> topLines(const inspect::Snapshot& snapshot, std::span<const WorkerRate> rates,
                                  inspect::Names& names, const TopOptions& options);

}  // namespace weft::inline v0_1::detail::tools
