// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/detail/base/throw_or_die.h"
#include "weft/memory.h"

namespace weft::inline v0_1::containers {

// A list of elements that keep their addresses. New elements reuse the memory of erased ones.
//
//   weft::containers::list<Job> jobs(allocator);
//   auto job = jobs.emplace_front(arguments);
//   jobs.erase(job);
template <class T>
class list {
  struct Entry;

 public:
  // A forward iterator. It stays valid until its element is erased.
  class iterator {
   public:
    // What std::iterator_traits and algorithms ask for.
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = ptrdiff_t;
    using pointer = T*;
    using reference = T&;
    iterator() noexcept = default;
    T* operator->() const noexcept { return entry_->element(); }
    T& operator*() const noexcept { return *entry_->element(); }
    iterator& operator++() noexcept {
      entry_ = entry_->next;
      return *this;
    }
    iterator operator++(int) noexcept { return iterator(std::exchange(entry_, entry_->next)); }
    bool operator==(const iterator&) const noexcept = default;

   private:
    friend list;
    explicit iterator(Entry* entry) noexcept : entry_(entry) {}
    Entry* entry_ = nullptr;
  };

  // Makes an empty list, whose memory comes from `source`.
  explicit(false) list(Allocator* source = Allocator::Default) noexcept
      : allocator_(detail::assertAllocator(source, "containers::list")) {}
  ~list() {
    while (first_ != nullptr) {
      erase(begin());
    }
    while (chunks_ != nullptr) {
      Chunk* const chunk = std::exchange(chunks_, chunks_->next);
      allocator_->free(chunk->allocation);
    }
  }
  list(const list&) = delete;
  list& operator=(const list&) = delete;

  // The range of the elements, and their number.
  iterator begin() noexcept { return iterator(first_); }
  iterator end() noexcept { return iterator(nullptr); }
  size_t size() const noexcept { return size_; }

  // Makes an element before all others.
  // Returns: its position.
  template <class... Args>
  iterator emplace_front(Args&&... args) {
    if (free_ == nullptr) {
      grow();
    }
    // Unlinked first: the constructor may make further elements.
    Entry* const entry = std::exchange(free_, free_->next);
    bool isMade = false;
    detail::callAndEnd(
        [&]() noexcept(std::is_nothrow_constructible_v<T, Args...>) {
          ::new (static_cast<void*>(entry->storage)) T(std::forward<Args>(args)...);
          isMade = true;
        },
        [&] {
          if (!isMade) {
            entry->next = std::exchange(free_, entry);
          }
        });
    entry->next = first_;
    entry->previous = nullptr;
    if (first_ != nullptr) {
      first_->previous = entry;
    }
    first_ = entry;
    ++size_;
    return iterator(entry);
  }

  // Destroys the element at `position`.
  // Requires: `position` is an element of this list.
  void erase(iterator position) {
    Entry* const entry = position.entry_;
    (entry->previous != nullptr ? entry->previous->next : first_) = entry->next;
    if (entry->next != nullptr) {
      entry->next->previous = entry->previous;
    }
    entry->element()->~T();
    entry->next = std::exchange(free_, entry);
    --size_;
  }

 private:
  struct Entry {
    T* element() noexcept { return std::launder(reinterpret_cast<T*>(storage)); }

    alignas(T) unsigned char storage[sizeof(T)];
    Entry* next;
    Entry* previous;
  };

  // Stands before the entries that were allocated with it.
  struct alignas(Entry) Chunk {
    Chunk* next;
    Allocation allocation;
  };

  void grow() {
    const size_t count = size_ < 8 ? 8 : size_;
    const Allocation allocation =
        allocator_->allocate({.size = sizeof(Chunk) + detail::allocationBytes(sizeof(Entry), count),
                              .alignment = alignof(Chunk),
                              .usage = Allocation::Usage::List});
    chunks_ = ::new (allocation.ptr) Chunk{chunks_, allocation};
    auto* const entries = reinterpret_cast<Entry*>(chunks_ + 1);
    for (size_t i = count; i-- > 0;) {
      Entry* const entry = ::new (static_cast<void*>(entries + i)) Entry;
      entry->next = std::exchange(free_, entry);
    }
  }

  Allocator* allocator_;
  Chunk* chunks_ = nullptr;
  Entry* first_ = nullptr;
  Entry* free_ = nullptr;
  size_t size_ = 0;
};

}  // namespace weft::inline v0_1::containers

#include "weft/detail/base/macros_end.h"
