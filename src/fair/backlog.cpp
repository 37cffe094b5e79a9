// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "fair/backlog.h"

#include <algorithm>

namespace weft::inline v0_1::detail {

FairBacklog::~FairBacklog() {
  for (Chunk* chunks : {first_, spares_}) {
    while (chunks != nullptr) {
      Chunk* next = chunks->next;
      allocator_->destroy(chunks);
      chunks = next;
    }
  }
}

// Returns: an empty chunk whose slots begin at the front.
FairBacklog::Chunk* FairBacklog::takeSpare() {
  Chunk* chunk = spares_;
  if (chunk == nullptr) {
    chunk = allocator_->create<Chunk>();
  } else {
    spares_ = chunk->next;
    --numSpares_;
  }
  chunk->next = nullptr;
  chunk->clear();
  return chunk;
}

void FairBacklog::giveSpare(Chunk* chunk) {
  if (numSpares_ == kMaxSpares) {
    allocator_->destroy(chunk);
    return;
  }
  chunk->next = spares_;
  spares_ = chunk;
  ++numSpares_;
}

void FairBacklog::appendChunk() {
  Chunk* chunk = takeSpare();
  appendChunks(chunk, chunk);
}

void FairBacklog::appendChunks(Chunk* first, Chunk* last) {
  last_->next = first;
  last_ = last;
  if (isEmpty()) {
    dropFirst();
  }
}

void FairBacklog::dropFirst() {
  Chunk* next = first_->next;
  giveSpare(first_);
  first_ = next;
}

void FairBacklog::Reversed::prependChunk() {
  Chunk* chunk = backlog_.takeSpare();
  chunk->begin = chunk->end = kSlots;
  chunk->next = first_;
  last_ = first_ == nullptr ? chunk : last_;
  first_ = chunk;
}

void FairBacklog::Reversed::append() {
  if (first_ == nullptr) {
    return;
  }
  if (first_ != last_) {
    backlog_.appendChunks(first_, last_);
    return;
  }
  // The last chunk takes as many tasks as it has room for. The rest moves to the front of its own chunk, so
  // that there is room behind it.
  Chunk& tail = *backlog_.last_;
  FairTask** const tasks = first_->slots + first_->begin;
  const uint32_t count = first_->end - first_->begin;
  const uint32_t moved = std::min(count, kSlots - tail.end);
  std::copy_n(tasks, moved, tail.slots + tail.end);
  tail.end += moved;
  if (moved == count) {
    backlog_.giveSpare(first_);
  } else {
    std::copy(tasks + moved, tasks + count, first_->slots);
    first_->begin = 0;
    first_->end = count - moved;
    backlog_.appendChunks(first_, first_);
  }
}

}  // namespace weft::inline v0_1::detail
