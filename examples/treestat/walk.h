// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/event.h>
#include <weft/semaphore.h>
#include <weft/waitgroup.h>

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "console.h"
#include "open_directory.h"
#include "reader.h"
#include "tally.h"

namespace treestat {

// Walks a tree of directories and reads every file in it, with a task for each directory and for each batch
// of files.
//
// A directory that was found and not looked at yet is a queued task with its path, no more. A batch of files
// keeps its directory open, so the number of batches in flight is bounded: beyond that, the task that lists a
// directory reads the files itself. No task is suspended. So a tree of any size and shape needs no more than
// a stack and two open files for each worker, and one open directory for each batch.
class Walk {
 public:
  struct Options {
    int workers = 0;               // of the scheduler
    size_t top = 3;                // how many of the largest files to keep for each type
    bool isOneFileSystem = false;  // leave out what is mounted inside the tree
  };

  Walk(const Options& options, Console& console);

  // Starts a walk from `root`. Requires: a scheduler is bound. Lifetime: this object stays until waitFor()
  // has returned true.
  void start(const std::shared_ptr<OpenDirectory>& root);

  // As start(), from each of the directories `paths`, whatever file systems they are on.
  void start(std::vector<std::string> paths);

  // Returns: whether the walk has ended, after waiting for that at most for `duration`. Call it until it
  // returns true.
  bool waitFor(std::chrono::milliseconds duration) const { return finished_.wait_for(duration); }

  uint64_t filesRead() const { return reader_.filesRead(); }
  uint64_t bytesRead() const { return reader_.bytesRead(); }

  // Returns: what was counted.
  Tally tally();

 private:
  template <class Function>
  void spawn(Function&& function);
  void walkDirectory(const std::string& path);
  void listDirectory(const std::shared_ptr<OpenDirectory>& directory);
  void readOrSpawn(const std::shared_ptr<OpenDirectory>& directory, Names names, Tally& tally);
  void add(const Tally& tally);

  const Options options_;
  Reader reader_;
  dev_t device_ = 0;

  weft::WaitGroup tasks_;        // that have not ended
  weft::Event finished_;         // signalled by the last of them
  weft::Semaphore freeBatches_;  // how many more batches may be in flight

  // A mutex of threads, for it is held for an instant. A task that was suspended here instead would wait for
  // its worker as well, which may be reading a large file by then, and others would pile up.
  std::mutex mutex_;
  Tally tally_;  // guarded by mutex_
};

}  // namespace treestat
