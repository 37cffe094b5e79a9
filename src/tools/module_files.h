// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0_1::detail::tools {

// A program or shared library, as far as its addresses matter.
class ModuleFile {
 public:
  // Returns: the file, or null if it is no 64-bit ELF file that can be read.
  static std::unique_ptr<ModuleFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  // Whether the file has all of its segments, and its table of sections.
  bool isWhole() const { return isWhole_; }

  // The address in the file that a report means by an offset. A program that is not position-independent
  // begins at another address than 0: some reports count from there, others from 0.
  uint64_t addressOf(uint64_t offset) const { return offset < base_ ? base_ + offset : offset; }

  // Copies what lies at an address of the file. Returns: how many bytes there were.
  size_t read(uint64_t address, unsigned char* to, size_t size) const;

 private:
  struct Segment {
    uint64_t address, fileOffset, size;
  };

  std::string path_;
  std::vector<Segment> segments_;
  uint64_t base_ = 0;
  bool isWhole_ = true;
};

// Throws Failure, if the file is no program or shared library, or if a part of it is missing.
void checkModule(const std::string& path);

// Finds the files of modules, which reports name without their folders.
class ModuleFiles {
 public:
  void addFile(const std::string& path);  // throws Failure as checkModule() does
  // Adds a file that stands for another one, which has that name wherever it lies.
  void addSubstitute(const std::string& path, std::string_view name);
  // Adds a file where a report says that it is, unless it cannot be read.
  void addHint(const std::string& path);
  void addProcess(int processId);  // throws Failure if there is no such process

  // Says that no file of that name is the one that ran, wherever it lies. Requires: no find() of it yet.
  void refuse(const std::string& path);
  bool isRefused(std::string_view name) const { return refused_.contains(name); }

  // Returns: null if there is none of that name.
  const ModuleFile* find(std::string_view name);

 private:
  std::unique_ptr<ModuleFile> search(const std::string& name) const;

  struct Known {
    std::string name;  // without folders
    std::string path;
  };
  std::vector<Known> known_;
  std::map<std::string, std::unique_ptr<ModuleFile>, std::less<>> found_;
  std::set<std::string, std::less<>> refused_;
};

}  // namespace weft::inline v0_1::detail::tools
