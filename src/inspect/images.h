// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/elf_file.h"
#include "inspect/memory.h"
#include "inspect/text.h"
#include "os/system_page_size.h"

namespace weft::inline v0_1::detail::inspect {

// A file that is mapped into the observed process: its program, a shared library, or a file without code.
struct Image {
  Address begin = 0;  // of its mappings
  Address end = 0;
  uint64_t fileOffset = 0;  // of the first mapping
  Address bias = 0;         // what is to be added to an address of the file; known with `file`
  std::string_view path;    // with kDeletedMark at its end, if the file has gone; a zero byte follows
  const char* substitute = nullptr;  // null, or the path of the file that is opened in its place
  ElfFile* file = nullptr;           // null: not opened yet, or it cannot be read
  bool wasTried = false;             // to open it
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
  explicit Images(std::pmr::memory_resource* memory)
      : memory_(memory), pageSize_(systemPageSize()), images_(memory) {}
  ~Images();
  Images(const Images&) = delete;
  Images& operator=(const Images&) = delete;

  // Reads /proc/PID/maps. Returns: whether it could be read.
  [[nodiscard]] bool readMaps(int processId);
  // Sets the size of the process's pages, a power of two. Unless told, it is that of this system.
  void setPageSize(Address bytes) { pageSize_ = bytes; }
  // Adds a mapping, of a core file. Requires: mappings come by growing addresses, before the first find().
  // `mayOpen`: false, if the file at that path is not the one that was mapped. It then has no names.
  void add(Address begin, Address end, uint64_t fileOffset, std::string_view path, bool mayOpen = true);

  // Where readMaps() found "[vdso]", code that the kernel maps into each process; empty if it did not.
  // clock_gettime() is there.
  struct Range {
    Address begin = 0;
    Address end = 0;
  };
  Range kernelCode() const { return kernelCode_; }
  // Adds that code, which has no file. Requires: `bytes`, which the process has there, live as long as this.
  // There was no find() yet.
  void addKernelCode(std::span<const unsigned char> bytes);

  // Has another file opened for an image, such as its copy with symbols. It may be opened also where the
  // image's own may not. Requires: `path` lives as long as this. There was no find() in the image yet.
  void substitute(size_t index, const char* path);

  // Finds the image around the address, and opens its file, so find(all()[i].begin) opens each.
  // Returns: null, if there is none.
  const Image* find(Address address);
  // Requires: the address is one of the function, and no return address, which may lie behind the function.
  CodePlace place(Address address);
  std::span<const Image> all() const { return images_; }

  // Writes a line that names the first file that the system did not let it read, and why; nothing, if there
  // is none. A report has no names from that file, and the calls of a stack may end there.
  void writeFailure(Text& out) const;

 private:
  void addLine(std::string_view line);
  void open(Image& image);
  void tryToOpen(Image& image);
  bool openAs(Image& image, const char* path);
  void openByProcess(Image& image);
  ElfFile* newFile() const;
  void deleteFile(ElfFile* file) const;
  void noteError(int error);
  Address biasOf(const Image& image) const;

  std::pmr::memory_resource* const memory_;
  Address pageSize_;
  int processId_ = 0;               // 0: of a core file
  std::pmr::vector<Image> images_;  // by their addresses
  Address lastBegin_ = 0;           // of the mapping that was added last
  Address lastOffset_ = 0;
  Range kernelCode_;
  int openError_ = 0;            // the first errno of the image that is being opened
  int failure_ = 0;              // the errno of the first file that could not be read; 0: there is none
  std::string_view failedPath_;  // of an image or its substitute; empty: it was /proc/PID/maps
};

// Writes the place as "name(arguments)+0x12 (program+0x3412)", or without a name as "(program+0x3412)"; "???"
// without an image. Takes up to 40 KiB of stack, for Demangler.
void writePlace(Text& out, const CodePlace& place);
// Writes only "name(arguments)"; without a name "(program)".
void writeFunctionOf(Text& out, const CodePlace& place);
// Writes only "(program+0x3412)". Requires: there is an image.
void writePlaceInFile(Text& out, const CodePlace& place);

}  // namespace weft::inline v0_1::detail::inspect
