// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace weft::inline v0_1::detail::inspect {
namespace {

static_assert(PT_NOTE == 4);
constexpr size_t kNested = 16;  // symbols before an address that may cover it

// Returns: the string that begins there and has its end in `strings`; else an empty one.
std::string_view stringAt(ByteReader strings, uint64_t offset) {
  strings.skip(offset);
  const void* end = strings.left() == 0 ? nullptr : std::memchr(strings.bytes(), 0, strings.left());
  if (end == nullptr) {
    return {};
  }
  const auto* begin = reinterpret_cast<const char*>(strings.bytes());
  return {begin, static_cast<size_t>(static_cast<const char*>(end) - begin)};
}

uint64_t padded(uint64_t size, uint64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

}  // namespace

ElfFile::~ElfFile() {
  if (isMapped_) {
    munmap(const_cast<unsigned char*>(bytes_), size_);
  }
}

bool ElfFile::open(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) {
    error_ = errno;
    return false;
  }
  struct stat status;
  void* memory = MAP_FAILED;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    memory = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    error_ = memory == MAP_FAILED ? errno : 0;
  }
  close(file);
  if (memory == MAP_FAILED) {
    return false;
  }
  isMapped_ = true;
  return openBytes(memory, static_cast<size_t>(status.st_size));
}

bool ElfFile::openBytes(const void* bytes, size_t size) {
  bytes_ = static_cast<const unsigned char*>(bytes);
  size_ = size;
  return readHeader();
}

bool ElfFile::readHeader() {
  const auto header = bytesAt(0, sizeof(ElfW(Ehdr)), 0).get<ElfW(Ehdr)>();
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != kElfClass ||
      header.e_ident[EI_DATA] != kByteOrder) {
    return false;
  }
  if (header.e_shentsize == sizeof(ElfW(Shdr)) && header.e_shoff != 0) {
    sections_ = header.e_shoff;
    numSections_ = 1;  // the first one says what does not fit the header
    const auto first = bytesAt(sections_, sizeof(ElfW(Shdr)), 0).get<ElfW(Shdr)>();
    numSections_ = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
    namesSection_ = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
    numSegments_ = header.e_phnum == PN_XNUM ? first.sh_info : 0;
    numSections_ = std::min(numSections_, uint64_t{size_ / sizeof(ElfW(Shdr))});
  }
  if (header.e_phentsize == sizeof(ElfW(Phdr))) {
    segments_ = header.e_phoff;
    numSegments_ = header.e_phnum != PN_XNUM ? header.e_phnum : numSegments_;
    numSegments_ = std::min(numSegments_, uint64_t{size_ / sizeof(ElfW(Phdr))});
  } else {
    numSegments_ = 0;
  }
  return true;
}

ByteReader ElfFile::bytesAt(uint64_t offset, uint64_t size, Address address) const {
  if (offset > size_ || size > size_ - offset) {
    return {};
  }
  return {bytes_ + offset, static_cast<size_t>(size), address};
}

ElfFile::Segment ElfFile::segment(uint64_t index) const {
  if (index >= numSegments_ || segments_ > size_) {
    return {};
  }
  const uint64_t offset = segments_ + index * sizeof(ElfW(Phdr));
  const auto header = bytesAt(offset, sizeof(ElfW(Phdr)), 0).get<ElfW(Phdr)>();
  return {header.p_type,   header.p_flags, header.p_vaddr, header.p_offset,
          header.p_filesz, header.p_memsz, header.p_align};
}

ElfFile::Section ElfFile::sectionAt(uint64_t index) const {
  if (index >= numSections_ || sections_ > size_) {
    return {};
  }
  const uint64_t offset = sections_ + index * sizeof(ElfW(Shdr));
  const auto header = bytesAt(offset, sizeof(ElfW(Shdr)), 0).get<ElfW(Shdr)>();
  return {header.sh_name, header.sh_type, header.sh_addr, header.sh_offset,
          header.sh_size, header.sh_link, header.sh_info, header.sh_entsize};
}

Address ElfFile::lowestAddress() const {
  Address lowest = ~Address{0};
  for (uint64_t i = 0; i < numSegments_; ++i) {
    const Segment loaded = segment(i);
    lowest = loaded.type == PT_LOAD ? std::min(lowest, loaded.address) : lowest;
  }
  return lowest == ~Address{0} ? 0 : lowest;
}

ByteReader ElfFile::contentOf(const Segment& segment) const {
  return bytesAt(segment.offset, segment.fileSize, segment.address);
}

ByteReader ElfFile::firstOfType(uint32_t type) const {
  for (uint64_t i = 0; i < numSegments_; ++i) {
    const Segment found = segment(i);
    if (found.type == type) {
      return contentOf(found);
    }
  }
  return {};
}

ByteReader ElfFile::section(std::string_view name) const {
  const Section names = sectionAt(namesSection_);
  const ByteReader strings = bytesAt(names.offset, names.size, 0);
  for (uint64_t i = 0; i < numSections_; ++i) {
    const Section found = sectionAt(i);
    if (found.type != SHT_NULL && found.type != SHT_NOBITS && stringAt(strings, found.name) == name) {
      return bytesAt(found.offset, found.size, found.address);
    }
  }
  return {};
}

ByteReader ElfFile::loadedFrom(Address address) const {
  for (uint64_t i = 0; i < numSegments_; ++i) {
    const Segment loaded = segment(i);
    if (loaded.type == PT_LOAD && address >= loaded.address && address - loaded.address < loaded.fileSize) {
      ByteReader content = contentOf(loaded);
      content.skip(address - loaded.address);
      return content;
    }
  }
  return {};
}

bool ElfFile::nextNote(ByteReader& notes, uint64_t alignment, Note& note) {
  const uint64_t padding = alignment == 8 ? 8 : 4;
  const auto header = notes.get<ElfW(Nhdr)>();
  ByteReader name = notes.take(padded(sizeof header + header.n_namesz, padding) - sizeof header);
  note.type = header.n_type;
  note.name = stringAt(ByteReader(name.bytes(), std::min<size_t>(header.n_namesz, name.left()), 0), 0);
  note.content = notes.take(header.n_descsz);
  const bool isWhole = notes.isOk();
  // The last one needs no bytes behind it.
  notes.skip(std::min<uint64_t>(padded(header.n_descsz, padding) - header.n_descsz, notes.left()));
  return isWhole;
}

bool ElfFile::symbolAt(Address address, Symbol& symbol) {
  if (!hasIndex_) {
    hasIndex_ = true;
    buildIndex();
  }
  auto after = std::upper_bound(index_.begin(), index_.end(), address,
                                [](Address a, const IndexEntry& entry) { return a < entry.address; });
  for (size_t i = 0; i < kNested && after != index_.begin(); ++i) {
    --after;
    if (describe(*after, symbol) && address - symbol.address < symbol.size) {
      return true;
    }
    // Only the nearest symbol reaches to the next one, and no further than what is loaded with it.
    if (symbol.size == 0 && i == 0 && address - symbol.address < loadedFrom(symbol.address).left()) {
      return !symbol.name.empty();
    }
  }
  return false;
}

void ElfFile::buildIndex() {
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (uint64_t i = 0; i < numSections_ && index_.empty(); ++i) {
      const Section symbols = sectionAt(i);
      if (symbols.type == type && symbols.entrySize == sizeof(ElfW(Sym))) {
        indexSymbols(symbols);
      }
    }
  }
  std::sort(index_.begin(), index_.end(), [](const IndexEntry& a, const IndexEntry& b) {
    return a.address != b.address ? a.address < b.address
                                  : (a.rank != b.rank ? a.rank < b.rank : a.symbol < b.symbol);
  });
}

void ElfFile::indexSymbols(const Section& symbols) {
  const Section names = sectionAt(symbols.link);
  symbols_ = bytesAt(symbols.offset, symbols.size, 0);
  symbolNames_ = bytesAt(names.offset, names.size, 0);
  auto visitFunctions = [this](auto visit) {
    ByteReader left = symbols_;
    for (uint32_t i = 0; left.left() >= sizeof(ElfW(Sym)); ++i) {
      const auto symbol = left.get<ElfW(Sym)>();
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC)) {
        visit(symbol, i);
      }
    }
  };
  size_t count = 0;
  visitFunctions([&count](const ElfW(Sym)&, uint32_t) { ++count; });
  index_.reserve(count);
  visitFunctions([this](const ElfW(Sym) & symbol, uint32_t i) {
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    const uint32_t rank = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
    index_.push_back({symbol.st_value, i, rank});
  });
}

bool ElfFile::describe(const IndexEntry& entry, Symbol& symbol) const {
  ByteReader at = symbols_;
  at.skip(entry.symbol * sizeof(ElfW(Sym)));
  const auto found = at.get<ElfW(Sym)>();
  symbol = {stringAt(symbolNames_, found.st_name), found.st_value, found.st_size};
  return !symbol.name.empty();
}

}  // namespace weft::inline v0_1::detail::inspect
