// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory_resource>

namespace weft::inline v0_1::detail::inspect {

// Memory that comes from the system by mmap(), without malloc and without locks. It goes back when the arena
// is destroyed. Objects of up to a quarter of a chunk lie side by side in chunks of 1 MiB; memory that is
// freed there is used again only if it was given last. A larger object has a mapping of its own, which goes
// back when the object is freed.
//
// Without memory allocate() throws std::bad_alloc. Whoever owns the arena catches that where the look at the
// process begins, and ends the look quietly with what it has.
class Arena final : public std::pmr::memory_resource {
 public:
  Arena() = default;
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  static constexpr size_t kChunk = size_t{1} << 20;

 private:
  // At the beginning of each mapping.
  struct Mapping {
    Mapping* next;
    Mapping* previous;
    size_t size;
  };

  void* do_allocate(size_t size, size_t alignment) override;
  void do_deallocate(void* memory, size_t size, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  Mapping* map(size_t size);
  void unmap(Mapping* mapping);

  Mapping* mappings_ = nullptr;
  char* next_ = nullptr;  // the unused part of the newest chunk
  char* end_ = nullptr;
};

}  // namespace weft::inline v0_1::detail::inspect
