// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/core_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include "inspect/elf_file.h"
#include "os/registers.h"
#include "tools/command.h"
#include "tools/same_file.h"

// No number of a core file is believed: it is compared with the size of what it counts in.
namespace weft::inline v0_1::detail::tools {

using inspect::Address;

namespace {

// Returns: whether the bytes have such an object at the offset.
template <class T>
bool getAt(Bytes bytes, uint64_t offset, T& to) {
  if (offset > bytes.size() || sizeof to > bytes.size() - offset) {
    return false;
  }
  std::memcpy(&to, bytes.data() + offset, sizeof to);
  return true;
}

// Returns: what lies in the bytes, of a part that may exceed them.
Bytes partOf(Bytes bytes, uint64_t offset, uint64_t size) {
  const uint64_t begin = std::min<uint64_t>(offset, bytes.size());
  return bytes.subspan(begin, std::min<uint64_t>(size, bytes.size() - begin));
}

// Returns: the element that contains the address, or null. `list` is sorted by addresses.
template <class T>
const T* findAt(const std::vector<T>& list, Address address) {
  auto next = std::upper_bound(list.begin(), list.end(), address,
                               [](Address each, const T& element) { return each < element.begin; });
  return next != list.begin() && address < (--next)->end ? &*next : nullptr;
}

template <class T>
void sortByAddress(std::vector<T>& list) {
  std::sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.begin < b.begin; });
}

void checkKind(const std::string& path, const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64) {
    throw Failure(path + " is of a 32-bit process, for which there is no weft");
  }
  const bool isOwnOrder = header.e_ident[EI_DATA] == inspect::kByteOrder;
  if (!isOwnOrder || header.e_machine != processor::kElfMachine) {
    const unsigned machine = isOwnOrder ? header.e_machine : __builtin_bswap16(header.e_machine);
    throw Failure(path + " comes from a machine of another kind (ELF machine " + std::to_string(machine) +
                  "): run the `weft` of such a machine");
  }
  if (header.e_type != ET_CORE) {
    throw Failure(path +
                  " is a program or a library, and no core file: give the core file, or a process's number");
  }
}

[[noreturn]] void failCut(const std::string& path) {
  throw Failure(
      path + " is cut short: make room on its disk, raise `ulimit -c` for the process, and let it end again");
}

// Returns: how many program headers there are. A number that is too large for the header is in the first
// section.
uint64_t numSegments(Bytes file, const Elf64_Ehdr& header) {
  Elf64_Shdr first;
  if (header.e_phnum == PN_XNUM && getAt(file, header.e_shoff, first)) {
    return first.sh_info;
  }
  return header.e_phnum;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<size_t>(status.st_size);
    void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) {
      bytes_ = {static_cast<const unsigned char*>(memory), size};
    }
  }
  if (file >= 0) {
    const int error = errno;
    close(file);
    errno = error;
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    munmap(const_cast<unsigned char*>(bytes_.data()), bytes_.size());
  }
}

CoreFile::CoreFile(const std::string& path) : file_(path) {
  if (access(path.c_str(), R_OK) != 0) {
    throw Failure(path + " cannot be read: " + std::strerror(errno));
  }
  readHeaders(path);
  sortByAddress(segments_);
  sortByAddress(mappings_);
  openFiles();
}

void CoreFile::readHeaders(const std::string& path) {
  Elf64_Ehdr header;
  const Bytes file = file_.bytes();
  if (file.size() < SELFMAG || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
    throw Failure(path + " is no core file: give a core file, or the number of a process");
  }
  if (!getAt(file, 0, header)) {
    failCut(path);
  }
  checkKind(path, header);
  const uint64_t count = numSegments(file, header);
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Phdr segment;
    if (!getAt(file, header.e_phoff + i * sizeof segment, segment) || segment.p_offset > file.size() ||
        segment.p_filesz > file.size() - segment.p_offset) {
      failCut(path);
    }
    if (segment.p_type == PT_NOTE) {
      readNotes(partOf(file, segment.p_offset, segment.p_filesz));
    } else if (segment.p_type == PT_LOAD && segment.p_vaddr + segment.p_memsz > segment.p_vaddr) {
      segments_.push_back({segment.p_vaddr, segment.p_vaddr + segment.p_memsz, segment.p_offset,
                           std::min(segment.p_filesz, segment.p_memsz)});
    }
  }
  if (segments_.empty() || threads_.empty()) {
    failCut(path);
  }
}

void CoreFile::readNotes(Bytes notes) {
  const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
  Elf64_Nhdr note;
  for (uint64_t at = 0; getAt(notes, at, note);) {
    const uint64_t name = at + sizeof note;
    const uint64_t content = name + padded(note.n_namesz);
    if (content > notes.size() || note.n_descsz > notes.size() - content) {
      return;
    }
    const std::string_view owner(reinterpret_cast<const char*>(notes.data()) + name, note.n_namesz);
    const Bytes inNote = notes.subspan(content, note.n_descsz);
    if (owner == std::string_view("CORE\0", 5)) {
      readNote(note.n_type, inNote);
    } else if (owner == std::string_view("LINUX\0", 6) && note.n_type == NT_ARM_PAC_MASK) {
      (void)getAt(inNote, sizeof(uint64_t), signatureBits_);  // behind those of pointers to data
    }
    at = content + padded(note.n_descsz);
  }
}

void CoreFile::readNote(uint32_t type, Bytes content) {
  elf_prstatus status;
  elf_prpsinfo process;
  if (type == NT_PRSTATUS && getAt(content, 0, status)) {
    Thread thread{status.pr_pid, {}};
    thread.registers.assign(std::begin(status.pr_reg), std::end(status.pr_reg));
    if (threads_.empty()) {
      signal_ = status.pr_cursig;
      processId_ = processId_ != 0 ? processId_ : status.pr_pid;
    }
    threads_.push_back(std::move(thread));
  } else if (type == NT_PRPSINFO && getAt(content, 0, process)) {
    processId_ = process.pr_pid;
  } else if (type == NT_FILE) {
    readMappings(content);
  }
}

// Two words, how many mappings there are and the size of a page; three words for each; their names.
void CoreFile::readMappings(Bytes content) {
  struct {
    uint64_t count, pageSize;
  } header;
  struct {
    uint64_t begin, end, filePage;
  } entry;
  if (!getAt(content, 0, header) || header.count > content.size() / sizeof entry) {
    return;
  }
  pageSize_ = std::has_single_bit(header.pageSize) ? header.pageSize : pageSize_;
  uint64_t name = sizeof header + header.count * sizeof entry;
  for (uint64_t i = 0; i < header.count && name < content.size(); ++i) {
    const auto* text = reinterpret_cast<const char*>(content.data() + name);
    const size_t length = strnlen(text, content.size() - name);
    if (getAt(content, sizeof header + i * sizeof entry, entry) && entry.begin < entry.end) {
      mappings_.push_back(
          {entry.begin, entry.end, entry.filePage * header.pageSize, std::string(text, length)});
    }
    name += length + 1;
  }
}

void CoreFile::openFiles() {
  std::set<std::string> changed;
  for (const Mapping& mapping : mappings_) {
    if (changed.contains(mapping.path)) {
      continue;
    }
    const Bytes file = files_.try_emplace(mapping.path, mapping.path).first->second.bytes();
    if (file.empty() || !isSameFile(mapping, file)) {
      files_.erase(mapping.path);
      changed.insert(mapping.path);
    }
  }
}

// The first page of a program or a library is in the core. It has the build id, or at least the sizes.
bool CoreFile::isSameFile(const Mapping& mapping, Bytes file) const {
  unsigned char page[kFirstPage];
  const size_t size = std::min<size_t>({sizeof page, mapping.end - mapping.begin, file.size()});
  return mapping.fileOffset != 0 || readSegment(mapping.begin, page, size) != size ||
         std::memcmp(page, ELFMAG, SELFMAG) != 0 || isFileThatBegins(file, Bytes(page, size));
}

std::vector<std::string> CoreFile::changedFiles() const {
  std::set<std::string> changed;
  for (const Mapping& mapping : mappings_) {
    if (!files_.contains(mapping.path)) {
      changed.insert(mapping.path);
    }
  }
  return {changed.begin(), changed.end()};
}

bool CoreFile::read(Address address, void* to, size_t size) const {
  auto* bytes = static_cast<unsigned char*>(to);
  while (size != 0) {
    size_t some = readSegment(address, bytes, size);
    some = some != 0 ? some : readMapping(address, bytes, size);
    if (some == 0) {
      return false;
    }
    address += some;
    bytes += some;
    size -= some;
  }
  return true;
}

// Returns: how many bytes from the address on the core has.
size_t CoreFile::readSegment(Address address, unsigned char* to, size_t size) const {
  const Segment* segment = findAt(segments_, address);
  if (segment == nullptr || address - segment->begin >= segment->fileSize) {
    return 0;
  }
  const uint64_t offset = address - segment->begin;
  const Bytes part = partOf(file_.bytes(), segment->fileOffset + offset,
                            std::min<uint64_t>(size, segment->fileSize - offset));
  std::memcpy(to, part.data(), part.size());
  return part.size();
}

// Returns: how many bytes from the address on a mapped file has, and the core has not.
size_t CoreFile::readMapping(Address address, unsigned char* to, size_t size) const {
  const Mapping* mapping = findAt(mappings_, address);
  const auto file = mapping != nullptr ? files_.find(mapping->path) : files_.end();
  if (file == files_.end()) {
    return 0;
  }
  uint64_t most = std::min<uint64_t>(size, mapping->end - address);
  // Where the core goes on, it goes before the file.
  const auto next =
      std::upper_bound(segments_.begin(), segments_.end(), address,
                       [](Address each, const Segment& segment) { return each < segment.begin; });
  if (next != segments_.end()) {
    most = std::min(most, next->begin - address);
  }
  const Bytes part = partOf(file->second.bytes(), mapping->fileOffset + (address - mapping->begin), most);
  std::memcpy(to, part.data(), part.size());
  return part.size();
}

}  // namespace weft::inline v0_1::detail::tools
