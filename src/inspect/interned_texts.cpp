// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/interned_texts.h"

#include <algorithm>
#include <new>

namespace weft::inline v0_1::detail::inspect {

uint64_t InternedTexts::add(uint32_t use, std::string_view text) {
  auto known = texts_.find(text);
  if (known == texts_.end()) {
    try {
      auto* const copy = static_cast<char*>(bytes_.allocate(text.size() + 1, 1));
      std::ranges::copy(text, copy);
      known = texts_.emplace(std::string_view(copy, text.size()), Entry{texts_.size() + 1, 0}).first;
    } catch (const std::bad_alloc&) {
      return 0;
    }
  }
  Entry& entry = known->second;
  const uint32_t bit = uint32_t{1} << use;
  const bool isNew = (entry.uses & bit) == 0;
  entry.uses |= bit;
  return isNew ? entry.number : 0;
}

uint64_t InternedTexts::find(uint32_t use, std::string_view text) const {
  const auto known = texts_.find(text);
  const bool isKnown = known != texts_.end() && (known->second.uses & uint32_t{1} << use) != 0;
  return isKnown ? known->second.number : 0;
}

}  // namespace weft::inline v0_1::detail::inspect
