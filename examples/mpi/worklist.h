// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/mpi.h>
#include <weft/weft.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace worklist {

// A task that can go to any rank.
struct Task {
  int64_t function;  // its number
  int64_t begin, end;
};
using Tasks = std::vector<Task>;

// The functions that tasks name. A function may give more tasks, and returns what is added to its result.
class Functions {
 public:
  using Function = uint64_t (*)(const Task& task, Tasks& more);

  // Returns: its number.
  int64_t add(std::string_view name, Function function) {
    names_.append(name).push_back('\n');
    functions_.push_back(function);
    return static_cast<int64_t>(functions_.size()) - 1;
  }
  size_t size() const { return functions_.size(); }
  uint64_t call(const Task& task, Tasks& more) const {
    return functions_.at(static_cast<size_t>(task.function))(task, more);
  }
  // Returns: on all ranks, whether each has what rank 0 has, by name and order.
  bool areEqualOn(const weft::mpi::Communicator& ranks) const {
    size_t length = names_.size();
    ranks.bcast(length);
    std::string first = names_;
    first.resize(length);
    ranks.bcast(first);
    bool areEqual = first == names_;
    ranks.allreduce(areEqual, MPI_LAND);
    return areEqual;
  }

 private:
  std::string names_;
  std::vector<Function> functions_;
};

// The tasks that are on this rank, and what the done ones have given.
class WorkList {
 public:
  // How many tasks were made on this rank, and how many it has done.
  using Counts = std::array<uint64_t, 2>;
  using Results = std::vector<uint64_t>;  // one of each function

  explicit WorkList(size_t numFunctions) : results_(numFunctions) {}

  void add(const Tasks& made) {
    const weft::lock lock(mutex_);
    counts_[0] += made.size();
    insert(made);
  }
  void addTaken(const Tasks& taken) {
    const weft::lock lock(mutex_);
    insert(taken);
  }
  // Waits for a task, the newest. Returns: none after close(), even if some are left.
  std::optional<Task> take() {
    weft::lock lock(mutex_);
    changed_.wait(lock, [&] { return !tasks_.empty() || isClosed_; });
    if (isClosed_) {
      return std::nullopt;
    }
    const Task task = tasks_.back();
    tasks_.pop_back();
    ++numRunning_;
    return task;
  }
  // A task that was taken is done, and has given `result` and `more` tasks.
  void finish(const Task& task, uint64_t result, const Tasks& more) {
    const weft::lock lock(mutex_);
    counts_[0] += more.size();
    ++counts_[1];
    --numRunning_;
    results_[static_cast<size_t>(task.function)] += result;
    insert(more);
  }
  // Returns: half of the tasks, the oldest, for another rank: those may give the most tasks.
  Tasks giveHalf(size_t most) {
    const weft::lock lock(mutex_);
    const auto end = tasks_.begin() + static_cast<ptrdiff_t>(std::min((tasks_.size() + 1) / 2, most));
    const Tasks given(tasks_.begin(), end);
    tasks_.erase(tasks_.begin(), end);
    return given;
  }
  // Waits until no task is here, for `duration` at most. Returns: whether none is.
  bool waitUntilIdle(std::chrono::milliseconds duration) {
    weft::lock lock(mutex_);
    return changed_.wait_for(lock, duration, [&] { return tasks_.empty() && numRunning_ == 0; });
  }
  void close() {
    const weft::lock lock(mutex_);
    isClosed_ = true;
    changed_.notify_all();
  }
  bool isEmpty() {
    const weft::lock lock(mutex_);
    return tasks_.empty();
  }
  Counts counts() {
    const weft::lock lock(mutex_);
    return counts_;
  }
  Results results() {
    const weft::lock lock(mutex_);
    return results_;
  }

 private:
  void insert(const Tasks& tasks) {
    tasks_.insert(tasks_.end(), tasks.begin(), tasks.end());
    changed_.notify_all();
  }

  weft::mutex mutex_;  // guards all that follows
  weft::ConditionVariable changed_;
  std::deque<Task> tasks_;
  int numRunning_ = 0;
  bool isClosed_ = false;
  Counts counts_{};
  Results results_;
};

}  // namespace worklist
