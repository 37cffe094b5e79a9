// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "console.h"
#include "open_directory.h"
#include "tally.h"

namespace treestat {

using Names = std::vector<std::string>;

// Lists directories and reads files, each on the thread that calls. It knows nothing of tasks: several
// threads may call it at once.
class Reader {
 public:
  // `top` says how many of the largest files to keep for each type.
  Reader(size_t top, Console& console) : top_(top), console_(console) {}

  // Lists `directory`, which nobody else lists. Calls onDirectory(path) for each directory in it, and
  // onBatch(names) for each full batch of its files. Reads the files that are left over itself.
  void list(OpenDirectory& directory, Tally& tally, const std::function<void(std::string)>& onDirectory,
            const std::function<void(Names)>& onBatch);

  // Reads the files `names` of `directory`.
  void readFiles(const OpenDirectory& directory, const Names& names, Tally& tally);

  // Counts in `tally` what could not be read, and reports it.
  void noteFailure(const std::string& path, int error, Tally& tally);

  // relaxed: numbers to be shown meanwhile.
  uint64_t filesRead() const { return filesRead_.load(std::memory_order_relaxed); }
  uint64_t bytesRead() const { return bytesRead_.load(std::memory_order_relaxed); }

 private:
  void lookAtLink(const OpenDirectory& directory, const std::string& name, Tally& tally);
  Text readFile(const OpenDirectory& directory, const std::string& name, const std::string& path,
                Tally& tally);
  void note(const std::string& path, Oddity oddity, const char* what, Tally& tally);

  const size_t top_;
  Console& console_;
  std::atomic<uint64_t> filesRead_{0};
  std::atomic<uint64_t> bytesRead_{0};
};

}  // namespace treestat
