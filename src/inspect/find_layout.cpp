// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/find_layout.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "inspect/elf_file.h"
#include "inspect/layout.h"

// Nothing that is read here is believed: a count that makes no sense ends the search.
namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr unsigned kMostSegments = 256;
constexpr unsigned kMostNotes = 256;

bool isReadable(const ElfW(Ehdr) & header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == kElfClass &&
         header.e_ident[EI_DATA] == kByteOrder && header.e_phentsize == sizeof(ElfW(Phdr)) &&
         header.e_phnum <= kMostSegments;
}

// Looks in a segment of notes for the one that leads to the table. Returns: the table's address, or 0.
Address findTableInNotes(const Memory& memory, Address begin, uint64_t size, uint64_t alignment) {
  const auto aligned = [alignment](uint64_t value) { return (value + alignment - 1) & ~(alignment - 1); };
  uint64_t at = 0;
  for (unsigned i = 0; i < kMostNotes && at < size; ++i) {
    ElfW(Nhdr) note;
    if (!memory.get(begin + at, note)) {
      return 0;
    }
    const uint64_t content = aligned(at + sizeof note + note.n_namesz);
    char name[sizeof kLayoutNoteName];
    if (note.n_type == kLayoutNoteType && note.n_namesz == sizeof name && note.n_descsz == sizeof(int32_t) &&
        memory.get(begin + at + sizeof note, name) && std::memcmp(name, kLayoutNoteName, sizeof name) == 0) {
      int32_t distance;
      const bool isRead = memory.get(begin + content, distance);
      return isRead ? begin + content + static_cast<uint64_t>(int64_t{distance}) : 0;
    }
    at = aligned(content + note.n_descsz);
  }
  return 0;
}

}  // namespace

Address findTable(const Memory& memory, Address begin) {
  ElfW(Ehdr) header;
  if (!memory.get(begin, header) || !isReadable(header)) {
    return 0;
  }
  // One by one: the caller's stack may be a fiber's.
  ElfW(Phdr) segment;
  Address bias = 0;
  bool hasBias = false;
  for (unsigned i = 0; i < header.e_phnum && !hasBias; ++i) {
    if (!memory.get(begin + header.e_phoff + i * sizeof segment, segment)) {
      return 0;
    }
    if (segment.p_type == PT_LOAD) {
      bias = begin - (segment.p_vaddr - segment.p_offset);  // the file begins with the header
      hasBias = true;
    }
  }
  for (unsigned i = 0; i < header.e_phnum && hasBias; ++i) {
    if (!memory.get(begin + header.e_phoff + i * sizeof segment, segment)) {
      return 0;
    }
    if (segment.p_type == PT_NOTE) {
      const uint64_t alignment = segment.p_align == 8 ? 8 : 4;
      const Address table = findTableInNotes(memory, bias + segment.p_vaddr, segment.p_memsz, alignment);
      if (table != 0) {
        return table;
      }
    }
  }
  return 0;
}

}  // namespace weft::inline v0_1::detail::inspect
