// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/module_files.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "inspect/proc_path.h"
#include "os/system_page_size.h"
#include "tools/command.h"
#include "tools/process_status.h"

namespace weft::inline v0_1::detail::tools {
namespace {

std::string nameOf(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

template <class T>
bool readAt(std::ifstream& file, uint64_t offset, T& to) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&to), sizeof to));
}

bool hasPart(uint64_t fileSize, uint64_t offset, uint64_t size) {
  return offset <= fileSize && size <= fileSize - offset;
}

// A fatal message cuts the name of a file after so many characters.
constexpr size_t kNameCutAfter = 32;

bool isName(std::string_view name, std::string_view file) {
  return name == file || (name.size() == kNameCutAfter && file.starts_with(name));
}

}  // namespace

std::unique_ptr<ModuleFile> ModuleFile::open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!readAt(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || (header.e_type != ET_EXEC && header.e_type != ET_DYN) ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return nullptr;
  }
  auto module = std::make_unique<ModuleFile>();
  module->path_ = path;
  std::error_code error;
  const uint64_t fileSize = std::filesystem::file_size(path, error);
  const uint64_t sizeOfSections = uint64_t{header.e_shnum} * header.e_shentsize;
  module->isWhole_ = !error && hasPart(fileSize, header.e_shoff, sizeOfSections);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!readAt(file, header.e_phoff + i * sizeof segment, segment)) {
      return nullptr;
    }
    if (segment.p_type == PT_LOAD) {
      if (module->segments_.empty()) {
        module->base_ = segment.p_vaddr & ~uint64_t{systemPageSize() - 1};
      }
      module->isWhole_ = module->isWhole_ && hasPart(fileSize, segment.p_offset, segment.p_filesz);
      module->segments_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz});
    }
  }
  return module;
}

size_t ModuleFile::read(uint64_t address, unsigned char* to, size_t size) const {
  for (const Segment& segment : segments_) {
    if (address >= segment.address && address - segment.address < segment.size) {
      const uint64_t inSegment = address - segment.address;
      std::ifstream file(path_, std::ios::binary);
      file.seekg(static_cast<std::streamoff>(segment.fileOffset + inSegment));
      file.read(reinterpret_cast<char*>(to),
                static_cast<std::streamsize>(std::min<uint64_t>(size, segment.size - inSegment)));
      return static_cast<size_t>(file.gcount());
    }
  }
  return 0;
}

void checkModule(const std::string& path) {
  const std::unique_ptr<ModuleFile> file = ModuleFile::open(path);
  if (file == nullptr) {
    throw Failure(path + " is no program or shared library for 64 bits that can be read");
  }
  if (!file->isWhole()) {
    throw Failure(path + " is cut short: its segments or its sections end behind its end");
  }
}

void ModuleFiles::addFile(const std::string& path) {
  checkModule(path);
  known_.push_back({nameOf(path), path});
}

void ModuleFiles::addSubstitute(const std::string& path, std::string_view name) {
  known_.push_back({nameOf(inspect::withoutDeletedMark(name)), path});
}

void ModuleFiles::addHint(const std::string& path) {
  if (ModuleFile::open(path) != nullptr) {
    known_.push_back({nameOf(path), path});
  }
}

void ModuleFiles::addProcess(int processId) {
  checkProcess(processId);
  std::ifstream maps(inspect::ProcPath(processId, "maps").text());
  std::string line;
  if (!maps || !std::getline(maps, line)) {
    throw Failure("process " + std::to_string(processId) +
                  " belongs to somebody else: run this as its user or as root");
  }
  // The program may be reached by this link alone: its file may be gone, or lie in another container.
  const inspect::ProcPath program(processId, "exe");
  char target[4096];
  const ssize_t size = readlink(program.text(), target, sizeof target);
  if (size > 0) {
    const std::string_view path(target, static_cast<size_t>(size));
    known_.push_back({nameOf(inspect::withoutDeletedMark(path)), program.text()});
  }
  do {
    const size_t slash = line.find('/');
    if (slash != line.npos && (known_.empty() || nameOf(known_.back().path) != nameOf(line))) {
      known_.push_back({nameOf(line), inspect::ProcPath(processId, "root").text() + line.substr(slash)});
    }
  } while (std::getline(maps, line));
}

void ModuleFiles::refuse(const std::string& path) { refused_.insert(nameOf(path)); }

const ModuleFile* ModuleFiles::find(std::string_view name) {
  auto found = found_.find(name);
  if (found == found_.end()) {
    found = found_.emplace(name, isRefused(name) ? nullptr : search(std::string(name))).first;
  }
  return found->second.get();
}

std::unique_ptr<ModuleFile> ModuleFiles::search(const std::string& name) const {
  const std::string file = nameOf(name);
  for (const Known& known : known_) {
    if (isName(file, known.name)) {
      if (auto module = ModuleFile::open(known.path)) {
        return module;
      }
    }
  }
  if (auto module = ModuleFile::open(name)) {
    return module;
  }
  if (auto module = ModuleFile::open(file)) {
    return module;
  }
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable != nullptr ? variable : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (auto module = ModuleFile::open(folder + "/" + file)) {
      return module;
    }
  }
  return nullptr;
}

}  // namespace weft::inline v0_1::detail::tools
