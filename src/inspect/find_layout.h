// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "inspect/layout.h"
#include "inspect/memory.h"

namespace weft::inline v0_1::detail::inspect {

// A copy of a LayoutTable of an observed process.
class Layout {
 public:
  explicit Layout(std::pmr::memory_resource* memory) : entries_(memory) {}

  // Looks up an offset or a size. Returns: whether the process names it; if not, `value` is unchanged.
  [[nodiscard]] bool offset(std::string_view name, uint64_t& value) const;

  Address schedulers() const { return schedulers_; }  // where the pointer to the newest scheduler lies
  uint32_t version() const { return version_; }
  std::string_view release() const { return release_; }  // of the process's weft: "0.1.0"

 private:
  friend class LayoutReader;

  std::pmr::vector<LayoutEntry> entries_;  // by their names
  Address schedulers_ = 0;
  uint32_t version_ = 0;
  char release_[17] = "";
};

enum class LayoutStatus : uint8_t {
  Found,
  None,          // the image contains no weft, or none that shows its layout
  OtherVersion,  // its version is none that this reader knows: only Layout::version() and release() are set
  Broken,        // the image says that there is a table, but there is none that makes sense
};

// Looks for the table of an image, which is a program or a shared library whose ELF header is mapped at
// `begin`. Reads mapped memory alone: the image's file may be stripped, gone, or in another container.
LayoutStatus findLayout(const Memory& memory, Address begin, Layout& layout);

}  // namespace weft::inline v0_1::detail::inspect
