// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/fair/task.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// The ready tasks of a fair::TaskScheduler, in the order of their posts, in chunks of pointers. For one
// thread at a time.
//
// Rejected: a list through the tasks. A long list is not in the cache, and following each link then costs as
// much as a step. Pointers say early which tasks come next, so that several are fetched at the same time.
class FairBacklog {
 public:
  explicit FairBacklog(Allocator* allocator) : allocator_(allocator) { first_ = last_ = takeSpare(); }
  FairBacklog(const FairBacklog&) = delete;
  FairBacklog& operator=(const FairBacklog&) = delete;
  ~FairBacklog();

  bool isEmpty() const { return first_->begin == first_->end; }

  void append(FairTask* task) {
    if (last_->end == kSlots) [[unlikely]] {
      appendChunk();
    }
    last_->slots[last_->end++] = task;
  }

  // Requires: it is not empty.
  FairTask* pop() {
    Chunk& chunk = *first_;
    FairTask* task = chunk.slots[chunk.begin++];
    if (chunk.begin + kAhead < chunk.end) {
      const auto* ahead = reinterpret_cast<const char*>(chunk.slots[chunk.begin + kAhead]);
      __builtin_prefetch(ahead, 1);
      __builtin_prefetch(ahead + kCacheLine, 1);
    }
    if (chunk.begin == chunk.end) [[unlikely]] {
      chunk.next == nullptr ? chunk.clear() : dropFirst();
    }
    return task;
  }

 private:
  struct Chunk;

 public:
  // Collects tasks from the newest to the oldest, and then appends them in the order of their posts.
  class Reversed {
   public:
    explicit Reversed(FairBacklog& backlog) : backlog_(backlog) {}

    void prepend(FairTask* task) {
      if (first_ == nullptr || first_->begin == 0) [[unlikely]] {
        prependChunk();
      }
      first_->slots[--first_->begin] = task;
    }

    // Called once, after the last prepend().
    void append();

   private:
    void prependChunk();

    FairBacklog& backlog_;
    Chunk* first_ = nullptr;
    Chunk* last_ = nullptr;
  };

 private:
  // 32 KiB with the chunk's head. A thread's arena of glibc grows and shrinks by a system call for nearly
  // each chunk: with chunks of 4 KiB, a million posted tasks took a third more of the system's time.
  static constexpr uint32_t kSlots = 4093;
  static constexpr uint32_t kAhead = 6;      // tasks: about 200 ns of short steps
  static constexpr uint32_t kMaxSpares = 2;  // one takes what was posted, one goes between the two ends

  struct Chunk {
    Chunk() {}  // not defaulted: that would zero the slots
    void clear() { begin = end = 0; }

    Chunk* next;
    uint32_t begin;
    uint32_t end;
    FairTask* slots[kSlots];
  };

  Chunk* takeSpare();
  void giveSpare(Chunk* chunk);
  void appendChunk();
  void appendChunks(Chunk* first, Chunk* last);
  void dropFirst();

  Allocator* const allocator_;
  Chunk* first_;  // no chunk is empty, unless it is the only one
  Chunk* last_;
  Chunk* spares_ = nullptr;
  uint32_t numSpares_ = 0;
};

}  // namespace weft::inline v0_1::detail
