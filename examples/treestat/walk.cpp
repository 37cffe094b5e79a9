// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "walk.h"

#include <weft/scheduler.h>

#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <mutex>
#include <utility>

namespace treestat {
namespace {

constexpr uint32_t kBatchesPerThread = 4;  // in flight

}  // namespace

Walk::Walk(const Options& options, Console& console)
    : options_(options),
      reader_(options.top, console),
      freeBatches_(kBatchesPerThread * static_cast<uint32_t>(options.workers + 1)) {}

void Walk::start(const std::shared_ptr<OpenDirectory>& root) {
  struct stat status{};
  fstat(root->fd(), &status);
  device_ = status.st_dev;
  spawn([this, root] { listDirectory(root); });
}

// A task starts the others, so that it is the last to end if there are none.
void Walk::start(std::vector<std::string> paths) {
  spawn([this, paths = std::move(paths)] {
    for (const std::string& path : paths) {
      spawn([this, path] { walkDirectory(path); });
    }
  });
}

Tally Walk::tally() {
  const std::lock_guard lock(mutex_);
  return tally_;
}

template <class Function>
void Walk::spawn(Function&& function) {
  tasks_.add();
  weft::schedule([this, function = std::forward<Function>(function)] {
    function();
    if (tasks_.done()) {
      finished_.signal();  // the last access: this object may be gone after it
    }
  });
}

void Walk::walkDirectory(const std::string& path) {
  if (const auto directory = OpenDirectory::open(path)) {
    listDirectory(directory);
    return;
  }
  Tally tally;
  tally.directories = 1;
  reader_.noteFailure(path, errno, tally);
  add(tally);
}

void Walk::listDirectory(const std::shared_ptr<OpenDirectory>& directory) {
  Tally tally;
  tally.directories = 1;
  struct stat status{};
  if (options_.isOneFileSystem && fstat(directory->fd(), &status) == 0 && status.st_dev != device_) {
    add(tally);
    return;
  }
  reader_.list(
      *directory, tally,
      [this](std::string path) { spawn([this, path = std::move(path)] { walkDirectory(path); }); },
      [&](Names names) { readOrSpawn(directory, std::move(names), tally); });
  add(tally);
}

// Has the files `names` read by a task, or reads them at once if enough such tasks are in flight.
void Walk::readOrSpawn(const std::shared_ptr<OpenDirectory>& directory, Names names, Tally& tally) {
  if (!freeBatches_.try_acquire()) {
    reader_.readFiles(*directory, names, tally);
    return;
  }
  spawn([this, directory, names = std::move(names)] {
    Tally own;
    reader_.readFiles(*directory, names, own);
    add(own);
    freeBatches_.release();
  });
}

void Walk::add(const Tally& tally) {
  const std::lock_guard lock(mutex_);
  tally_.add(tally, options_.top);
}

}  // namespace treestat
