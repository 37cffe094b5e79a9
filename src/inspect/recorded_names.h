// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory_resource>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "inspect/memory.h"
#include "inspect/names.h"
#include "inspect/recorded_events.h"

namespace weft::inline v0_1::detail::inspect {

// The texts that the events of a recording name. Each is looked up once, and is valid as long as the object.
class RecordedNames {
 public:
  // `memory`: that of the process. `resource` outlives the object.
  RecordedNames(Names& names, const Memory& memory, std::pmr::memory_resource* resource);

  // Returns: the name of a task's code.
  std::string_view task(Address code);
  // Returns: the text at an address. Where it cannot be read, the address.
  std::string_view text(Address address);
  // Returns: the text at the address `event.operand`, or the one that follows the event.
  std::string_view nameOf(const RecordedEvent& event) { return named(event.operand, event.text); }
  std::string_view named(Address address, std::string_view text);
  // Returns: a copy of the text; "?" of an empty one.
  std::string_view keep(std::string_view text);

 private:
  Names& names_;
  const Memory& memory_;
  std::pmr::monotonic_buffer_resource bytes_;  // of the texts
  std::pmr::unordered_map<Address, std::string_view> tasks_;
  std::pmr::unordered_map<Address, std::string_view> texts_;
  std::pmr::unordered_set<std::string_view> kept_;
};

}  // namespace weft::inline v0_1::detail::inspect
