// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

#include "inspect/elf_file.h"
#include "inspect/memory.h"
#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {

// A file of code that is mapped into the observed process: its program, or a shared library.
struct Image {
  Address begin = 0;  // of its mappings
  Address end = 0;
  Address bias = 0;  // what is to be added to an address of the file
  std::string_view path;
  const ElfFile* file = nullptr;  // null: it cannot be read
};

// What is known of an address in code.
struct CodePlace {
  std::string_view function;  // as the file has it, mangled; empty: not known
  uint64_t offset = 0;        // in the function
  const Image* image = nullptr;
  Address inImage = 0;  // the address in the file, for addr2line
};

// The code of an observed process. Opens each file at its first use.
class Images {
 public:
  explicit Images(std::pmr::memory_resource* memory);
  ~Images();
  Images(const Images&) = delete;
  Images& operator=(const Images&) = delete;

  // Reads /proc/PID/maps. Returns: whether it could be read.
  [[nodiscard]] bool readMaps(int processId);
  void add(Address begin, Address end, uint64_t fileOffset, std::string_view path);

  const Image* find(Address address);
  CodePlace place(Address address);
  std::span<const Image> all() const { return images_; }

 private:
  std::pmr::memory_resource* const memory_;
  std::pmr::vector<Image> images_;  // by their addresses
};

// Writes the place as "name(arguments)+0x12 (program+0x3412)". `isReturn`: it is where a call returns to, so
// that the call itself lies before it. Demangles without malloc where the standard library can.
void writePlace(Text& out, const CodePlace& place);

}  // namespace weft::inline v0_1::detail::inspect
