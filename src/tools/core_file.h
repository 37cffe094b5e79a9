// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "inspect/memory.h"
#include "os/system_page_size.h"

namespace weft::inline v0_1::detail::tools {

// A file in memory, read-only. Empty if it cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const unsigned char> bytes() const { return bytes_; }

 private:
  std::span<const unsigned char> bytes_;
};

// The memory of a process that has left a core file. The system leaves out of a core what is mapped from
// files and unchanged; that is read from these files, as far as they are still those that the process had.
class CoreFile final : public inspect::Memory {
 public:
  struct Mapping {
    inspect::Address begin, end;
    uint64_t fileOffset;
    std::string path;
  };
  struct Thread {
    int32_t id;                       // the system's
    std::vector<uint64_t> registers;  // as user_regs_struct has them
  };

  // Throws Failure if it is no core file that can be read.
  explicit CoreFile(const std::string& path);

  [[nodiscard]] bool read(inspect::Address address, void* to, size_t size) const override;

  const std::vector<Mapping>& mappings() const { return mappings_; }
  const std::vector<Thread>& threads() const { return threads_; }  // the one that ended the process first
  uint64_t pageSize() const { return pageSize_; }                  // of the process's machine
  int32_t processId() const { return processId_; }
  int32_t signal() const { return signal_; }  // that ended the process, or 0
  // Those of return addresses that may hold a signature; 0: none.
  inspect::Address signatureBits() const { return signatureBits_; }
  // Reads from `file` what the process had mapped from `mapped`, unless that has not changed. Requires: they
  // have the same code and data at the same places.
  void substitute(const std::string& mapped, const std::string& file) { files_.try_emplace(mapped, file); }
  // Files that the process had mapped, and that are others now, or gone.
  std::vector<std::string> changedFiles() const;

 private:
  struct Segment {
    inspect::Address begin, end;
    uint64_t fileOffset, fileSize;
  };

  void readHeaders(const std::string& path);
  void readNotes(std::span<const unsigned char> notes);
  void readNote(uint32_t type, std::span<const unsigned char> content);
  void readMappings(std::span<const unsigned char> content);
  void openFiles();
  bool isSameFile(const Mapping& mapping, std::span<const unsigned char> file) const;
  size_t readSegment(inspect::Address address, unsigned char* to, size_t size) const;
  size_t readMapping(inspect::Address address, unsigned char* to, size_t size) const;

  const MappedFile file_;
  std::vector<Segment> segments_;  // by their addresses, as are mappings_
  std::vector<Mapping> mappings_;
  std::vector<Thread> threads_;
  std::map<std::string, MappedFile> files_;  // that have not changed
  uint64_t pageSize_ = systemPageSize();
  int32_t processId_ = 0;
  int32_t signal_ = 0;
  inspect::Address signatureBits_ = 0;
};

}  // namespace weft::inline v0_1::detail::tools
