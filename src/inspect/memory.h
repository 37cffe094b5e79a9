// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::inline v0_1::detail::inspect {

using Address = uintptr_t;  // in the observed process, whose pointers have the size of our own

// The memory of a process that is looked at: of the calling process, of another one, or of a core file. What
// is read may change meanwhile, so a reader believes nothing that it has not checked.
class Memory {
 public:
  struct Piece {
    Address address;
    void* to;
    size_t size;
    bool isRead;  // set by readMany()
  };

  // Copies `size` bytes. Returns: whether all of them could be read. Never faults.
  [[nodiscard]] virtual bool read(Address address, void* to, size_t size) const = 0;

  // Reads many pieces, with fewer system calls than as many calls of read().
  virtual void readMany(Piece* pieces, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      pieces[i].isRead = read(pieces[i].address, pieces[i].to, pieces[i].size);
    }
  }

  // Reads an object. Returns: whether it could be read; if not, `to` is unchanged or partly changed.
  template <class T>
  [[nodiscard]] bool get(Address address, T& to) const {
    return read(address, &to, sizeof to);
  }

 protected:
  Memory() = default;
  Memory(const Memory&) = default;
  Memory& operator=(const Memory&) = default;
  ~Memory() = default;
};

}  // namespace weft::inline v0_1::detail::inspect
