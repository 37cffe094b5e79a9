// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inspect/arena.h"
#include "inspect/images.h"
#include "inspect/offsets.h"
#include "inspect/process_memory.h"
#include "tools/core_file.h"

namespace weft::inline v0_1::detail::tools {

// What a command looks at: a process that runs, or one that has left a core file.
class Target {
 public:
  // `name` is the number of a process, or the path of a core file. `binaries` are files that stand for the
  // program or libraries of it, which may be stripped.
  // Throws Failure if it cannot be looked at, or does not use weft, or if a file is another build.
  explicit Target(const char* name, const std::vector<std::string>& binaries = {});
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  const std::string& name() const { return name_; }  // as messages have it
  const inspect::Memory& memory() const;
  inspect::Images& images() { return files_->images; }
  const std::vector<inspect::Offsets>& offsets() const { return offsets_; }  // one for each copy of weft
  int processId() const { return processId_; }
  std::string program() const;  // the path of what the process runs; empty if it is not known
  // The files that stand for others, by the paths of those.
  const std::map<std::string, std::string>& substitutes() const { return substitutes_; }
  const CoreFile* core() const { return core_ ? &*core_ : nullptr; }  // null: the process runs
  bool lives() const;  // whether the process still runs; true for a core file
  // Throws Failure if the process has ended meanwhile.
  void checkThatItLives() const;
  bool isStopped() const;  // the process, by a signal or a debugger
  // Returns: whether the process has the memory that it had when this was made: it has not ended, and has not
  // begun another program by exec(). True for a core file, and where the system does not tell.
  bool isSameProgram() const;
  // Returns: whether the process has begun another program, or the same one again, by exec().
  bool hasBegunAnother() const;
  // Returns: whether the process has mapped files that images() does not know. Reads the list of all
  // mappings, which takes milliseconds where there are very many.
  bool hasNewFiles() const;
  // Makes images() and offsets() anew, after the process has loaded or unloaded libraries. A file that stands
  // for a library that is not there any more stands for nothing. Requires: nobody uses these two.
  void readFilesAnew();

 private:
  // What is known of the files that are mapped.
  struct Files {
    Files() : images(&arena) {}
    inspect::Arena arena;
    std::vector<unsigned char> kernelCode;
    inspect::Images images;
  };
  bool tryToOpenProcess();
  void openProcess();
  void addKernelCode();
  void openCore(const std::string& path);
  void addBinary(const std::string& path);
  void substitute(size_t image, const std::string& path);
  std::vector<unsigned char> startOf(const inspect::Image& image) const;
  // Adds the offsets of all tables that are good. Returns: a release whose table is not understood, is
  // damaged or not ready; empty, if there is none.
  std::string lookForTables();
  void findOffsets();
  char state() const;
  // The kernel puts random bytes into the memory of each program that begins.
  struct Mark {
    inspect::Address address = 0;
    std::array<char, 16> bytes{};

    bool operator==(const Mark&) const = default;
  };
  std::optional<Mark> readMark() const;

  std::string name_;
  const std::vector<std::string> binaries_;
  std::map<std::string, std::string> substitutes_;
  std::optional<Files> files_;
  std::optional<CoreFile> core_;
  std::optional<inspect::ProcessMemory> process_;
  std::optional<Mark> mark_;
  std::vector<inspect::Offsets> offsets_;
  int processId_ = 0;
};

}  // namespace weft::inline v0_1::detail::tools
