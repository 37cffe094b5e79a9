// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/recorded_names.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "inspect/short_text.h"
#include "inspect/text.h"
#include "inspect/trace_events.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// Returns: the text in `bytes`, without its zero byte, and cut if it is long; nothing if it cannot be read.
std::string_view readText(const Memory& memory, Address address, std::span<char> bytes, bool& isRead) {
  constexpr size_t kPiece = 64;  // pieces that begin at multiples of their size lie on one page each
  size_t used = 0;
  isRead = true;
  while (used < bytes.size()) {
    const size_t size = std::min<size_t>(kPiece - (address + used) % kPiece, bytes.size() - used);
    if (!memory.read(address + used, &bytes[used], size)) {
      isRead = false;
      return {};
    }
    if (const void* end = std::memchr(&bytes[used], '\0', size)) {
      return {bytes.data(), static_cast<const char*>(end)};
    }
    used += size;
  }
  return {bytes.data(), used};
}

}  // namespace

RecordedNames::RecordedNames(Names& names, const Memory& memory, std::pmr::memory_resource* resource)
    : names_(names), memory_(memory), bytes_(resource), tasks_(resource), texts_(resource), kept_(resource) {}

std::string_view RecordedNames::task(Address code) {
  if (const auto known = tasks_.find(code); known != tasks_.end()) {
    return known->second;
  }
  const ShortText name([&](Text& out) { names_.writeTask(out, code); });
  return tasks_.emplace(code, keep(name.view())).first->second;
}

std::string_view RecordedNames::text(Address address) {
  if (const auto known = texts_.find(address); known != texts_.end()) {
    return known->second;
  }
  char bytes[kMostTraceText];
  bool isRead = false;
  const std::string_view found = readText(memory_, address, bytes, isRead);
  const ShortText place([address](Text& out) { out.hex(address); });
  return texts_.emplace(address, keep(isRead ? found : place.view())).first->second;
}

std::string_view RecordedNames::named(Address address, std::string_view text) {
  return address != 0 ? this->text(address) : keep(text);
}

std::string_view RecordedNames::keep(std::string_view text) {
  if (text.empty()) {
    return "?";
  }
  if (const auto known = kept_.find(text); known != kept_.end()) {
    return *known;
  }
  auto* const copy = static_cast<char*>(bytes_.allocate(text.size(), 1));
  std::memcpy(copy, text.data(), text.size());
  return *kept_.emplace(copy, text.size()).first;
}

}  // namespace weft::inline v0_1::detail::inspect
