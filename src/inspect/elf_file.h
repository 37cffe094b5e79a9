// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <elf.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "inspect/byte_reader.h"
#include "inspect/memory.h"

namespace weft::inline v0_1::detail::inspect {

// The order of bytes of this processor, as the header of a file tells it.
inline constexpr unsigned char kByteOrder =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
// The size of its pointers, as that header tells it.
inline constexpr unsigned char kElfClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

// An ELF file whose pointers have the size of our own, in the byte order of this machine: a program, a shared
// library or a core file. It is mapped, and each offset in it is checked before use, so a file that is
// damaged gives less, and no fault.
// (A file that somebody makes shorter meanwhile gives SIGBUS, as it does to the process that runs it.)
//
// Addresses are the file's own: those of a process less the bias of the image.
class ElfFile {
 public:
  struct Segment {
    uint32_t type;   // PT_LOAD, ...
    uint32_t flags;  // PF_X, ...
    Address address;
    uint64_t offset;  // in the file
    uint64_t fileSize;
    uint64_t memorySize;
    uint64_t alignment;
  };

  struct Symbol {
    std::string_view name;  // a zero byte follows it
    Address address;
    uint64_t size;  // 0: it reaches to the next one
  };

  struct Note {
    std::string_view name;
    uint32_t type;
    ByteReader content;  // with its address
  };

  explicit ElfFile(std::pmr::memory_resource* memory) : index_(memory) {}
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  // Maps the file. Returns: whether it is such an ELF file. Requires: nothing was opened before.
  [[nodiscard]] bool open(const char* path);
  // Returns: the errno that open() met; 0: the system let it read the file.
  int error() const { return error_; }
  // Takes a file that lies in memory, and stays there.
  [[nodiscard]] bool openBytes(const void* bytes, size_t size);

  uint64_t numSegments() const { return numSegments_; }
  Segment segment(uint64_t index) const;  // of type 0, if there is none
  Address lowestAddress() const;          // of what is loaded; 0, if nothing is

  // What the file has of a segment, of the first segment of a type, and of a section. A segment of another
  // file than a core file lies in what is loaded.
  ByteReader contentOf(const Segment& segment) const;
  ByteReader firstOfType(uint32_t type) const;
  ByteReader section(std::string_view name) const;
  // What is loaded from `address` on, up to the end of its segment's content in the file.
  ByteReader loadedFrom(Address address) const;

  // Finds the function that covers the address: by .symtab, or if that was stripped by .dynsym. The first
  // call sorts the symbols. Returns: whether there is one.
  bool symbolAt(Address address, Symbol& symbol);

  // Calls visit(note) for each note, until it returns true. Returns: whether it did.
  template <class F>
  bool visitNotes(F visit) const {
    for (uint64_t i = 0; i < numSegments_; ++i) {
      const Segment notes = segment(i);
      if (notes.type == kNotes) {
        ByteReader content = contentOf(notes);
        Note note;
        while (nextNote(content, notes.alignment, note)) {
          if (visit(note)) {
            return true;
          }
        }
      }
    }
    return false;
  }

 private:
  static constexpr uint32_t kNotes = 4;  // PT_NOTE

  struct Section {
    uint32_t name = 0;
    uint32_t type = 0;
    Address address = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
    uint32_t link = 0;
    uint32_t info = 0;
    uint64_t entrySize = 0;
  };

  struct IndexEntry {
    Address address;
    uint32_t symbol;
    uint32_t rank;  // among symbols of one address, the highest names it
  };

  static bool nextNote(ByteReader& notes, uint64_t alignment, Note& note);
  bool readHeader();
  Section sectionAt(uint64_t index) const;
  ByteReader bytesAt(uint64_t offset, uint64_t size, Address address) const;
  void buildIndex();
  void indexSymbols(const Section& symbols);
  bool describe(const IndexEntry& entry, Symbol& symbol) const;

  const unsigned char* bytes_ = nullptr;
  size_t size_ = 0;
  bool isMapped_ = false;
  int error_ = 0;
  uint64_t segments_ = 0;  // the offset of their headers
  uint64_t numSegments_ = 0;
  uint64_t sections_ = 0;
  uint64_t numSections_ = 0;
  uint64_t namesSection_ = 0;
  ByteReader symbols_;
  ByteReader symbolNames_;
  bool hasIndex_ = false;
  std::pmr::vector<IndexEntry> index_;
};

}  // namespace weft::inline v0_1::detail::inspect
