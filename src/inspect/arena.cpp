// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr size_t kPage = 4096;                  // mmap() rounds up to the system's own
constexpr size_t kLargest = Arena::kChunk / 4;  // of the objects that share a chunk

// The header of a mapping takes so much, that what follows is aligned.
constexpr size_t headerSize(size_t alignment) { return std::max(alignment, size_t{64}); }

bool hasOwnMapping(size_t size) { return size > kLargest; }

}  // namespace

Arena::~Arena() {
  while (mappings_ != nullptr) {
    unmap(mappings_);
  }
}

void* Arena::do_allocate(size_t size, size_t alignment) {
  if (alignment > kPage || size > std::numeric_limits<size_t>::max() - 2 * kPage) {
    throw std::bad_alloc();
  }
  if (hasOwnMapping(size)) {
    return reinterpret_cast<char*>(map(size + headerSize(alignment))) + headerSize(alignment);
  }
  auto align = [alignment](char* p) {
    return p + (alignment - reinterpret_cast<uintptr_t>(p) % alignment) % alignment;
  };
  if (next_ == nullptr || static_cast<size_t>(end_ - next_) < size + alignment) {
    auto* chunk = reinterpret_cast<char*>(map(kChunk));
    next_ = chunk + headerSize(alignof(Mapping));
    end_ = chunk + kChunk;
  }
  char* memory = align(next_);
  next_ = memory + size;
  return memory;
}

void Arena::do_deallocate(void* memory, size_t size, size_t alignment) {
  if (hasOwnMapping(size)) {
    unmap(reinterpret_cast<Mapping*>(static_cast<char*>(memory) - headerSize(alignment)));
  } else if (static_cast<char*>(memory) + size == next_) {
    next_ = static_cast<char*>(memory);
  }
}

Arena::Mapping* Arena::map(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  auto* mapping = new (memory) Mapping{mappings_, nullptr, size};
  if (mappings_ != nullptr) {
    mappings_->previous = mapping;
  }
  mappings_ = mapping;
  return mapping;
}

void Arena::unmap(Mapping* mapping) {
  (mapping->previous != nullptr ? mapping->previous->next : mappings_) = mapping->next;
  if (mapping->next != nullptr) {
    mapping->next->previous = mapping->previous;
  }
  munmap(mapping, mapping->size);
}

}  // namespace weft::inline v0_1::detail::inspect
