// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <unordered_map>

namespace weft::inline v0_1::detail::inspect {

// Numbers that stand for texts which a file repeats. A text has one number, from 1 on, whatever it is used
// for; the file says it once for each use.
class InternedTexts {
 public:
  explicit InternedTexts(std::pmr::memory_resource* memory) : bytes_(memory), texts_(memory) {}

  // `use`: 0 to 31. Returns: the number of the text, if it is new in that use; else 0, also where there is no
  // memory to keep it.
  uint64_t add(uint32_t use, std::string_view text);
  // Returns: the number of a text that was added for that use; 0 if it has none.
  uint64_t find(uint32_t use, std::string_view text) const;

 private:
  struct Entry {
    uint64_t number = 0;
    uint32_t uses = 0;  // bits
  };

  std::pmr::monotonic_buffer_resource bytes_;  // of the texts
  std::pmr::unordered_map<std::string_view, Entry> texts_;
};

}  // namespace weft::inline v0_1::detail::inspect
