// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "inspect/images.h"
#include "inspect/memory.h"

namespace weft::inline v0_1::detail::tools {

// Tells whether the program and the libraries of a process still lie where they did. A library may be
// unloaded, and another one may lie in its place. A look takes a system call or a few, while the list of all
// mappings takes milliseconds where there are very many.
class FileWatch {
 public:
  // Reads the beginnings of the files. `memory` outlives the watch.
  FileWatch(const inspect::Memory& memory, std::span<const inspect::Image> images);

  // Returns: whether all files begin as they did then.
  bool look();
  // Returns: whether the address is in a file that did not begin as before, at the last look.
  bool wasGone(inspect::Address address) const;

 private:
  // The header of an ELF file, the list of its segments, and mostly its build id.
  static constexpr size_t kStart = 1024;

  struct File {
    inspect::Address begin;
    inspect::Address end;
    bool isGone = false;
  };
  void read(std::vector<char>& starts);

  const inspect::Memory& memory_;
  std::vector<File> files_;
  std::vector<inspect::Memory::Piece> pieces_;
  std::vector<char> then_, now_;  // the starts of all files
};

}  // namespace weft::inline v0_1::detail::tools
