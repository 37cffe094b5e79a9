// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/target.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "inspect/find_layout.h"
#include "inspect/proc_path.h"
#include "tools/command.h"
#include "tools/module_files.h"
#include "tools/process_status.h"
#include "tools/same_file.h"

namespace weft::inline v0_1::detail::tools {
namespace {

// Says why the system does not let this program read the memory of a process.
[[noreturn]] void failRefused(const std::string& name, int processId) {
  struct stat status{};
  const bool isKnown = stat(inspect::ProcPath(processId, "").text(), &status) == 0;
  if (isKnown && geteuid() != 0 && status.st_uid != geteuid()) {
    throw Failure(name + " belongs to another user: run this as that user, or as root");
  }
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope == 3) {
    throw Failure(name +
                  " may not be looked at, as kernel.yama.ptrace_scope is 3 until the machine starts again");
  }
  if (scope != 0 && geteuid() != 0) {
    throw Failure(name + " may not be looked at, as kernel.yama.ptrace_scope is " + std::to_string(scope) +
                  ": run this as root, or set it to 0 (sysctl kernel.yama.ptrace_scope=0)");
  }
  throw Failure(name +
                " may not be looked at: run this as root, in a container with the capability SYS_PTRACE");
}

void checkClass(const std::string& name, int processId) {
  std::ifstream program(inspect::ProcPath(processId, "exe").text(), std::ios::binary);
  char start[EI_NIDENT] = {};
  if (program.read(start, sizeof start) && start[EI_CLASS] == ELFCLASS32) {
    throw Failure(name + " is a 32-bit process, for which there is no weft");
  }
}

// A path without a slash is rather meant to be a number where there is no such file.
void checkPath(const std::string& name) {
  if (name.find('/') == name.npos && access(name.c_str(), F_OK) != 0 && errno == ENOENT) {
    throw Failure('"' + name + "\" is neither the number of a process nor the path of a core file: give one");
  }
}

}  // namespace

Target::Target(const char* name, const std::vector<std::string>& binaries)
    : binaries_(binaries), processId_(parsePositive(name)) {
  if (processId_ != 0) {
    name_ = std::string("process ") + name;
    while (!tryToOpenProcess()) {
      constexpr useconds_t kBetween = 10'000;
      usleep(kBetween);
    }
  } else {
    name_ = name;
    checkPath(name_);
    openCore(name);
    findOffsets();
  }
  for (const std::string& path : binaries_) {
    addBinary(path);
  }
}

const inspect::Memory& Target::memory() const {
  if (core_) {
    return *core_;
  }
  return *process_;
}

std::string Target::program() const {
  if (core_) {
    return core_->mappings().empty() ? std::string() : core_->mappings().front().path;
  }
  std::error_code error;
  return std::filesystem::read_symlink(inspect::ProcPath(processId_, "exe").view(), error).string();
}

// Returns: the letter for the state of the process; 0 if it is gone; 'R', as of one that runs, for a core
// file.
char Target::state() const {
  if (!process_) {
    return 'R';
  }
  const std::optional<ProcessStatus> status = statusOf(processId_);
  return status ? status->state : '\0';
}

bool Target::lives() const {
  const char state = this->state();
  return state != '\0' && state != 'Z' && state != 'X';
}

void Target::checkThatItLives() const {
  if (!lives()) {
    throw Failure(name_ + " has ended while it was looked at");
  }
}

bool Target::isStopped() const {
  const char state = this->state();
  return state == 'T' || state == 't';
}

bool Target::isSameProgram() const {
  std::array<char, 16> bytes{};
  return !mark_ || (process_->get(mark_->address, bytes) && bytes == mark_->bytes);
}

bool Target::hasBegunAnother() const {
  if (isSameProgram()) {
    return false;
  }
  const std::optional<Mark> mark = readMark();
  return mark && *mark != *mark_;
}

bool Target::hasNewFiles() const {
  inspect::Arena arena;
  inspect::Images now(&arena);
  const std::span<const inspect::Image> known = files_->images.all();
  const bool isRead = now.readMaps(processId_);
  return isRead && std::ranges::any_of(now.all(), [known](const inspect::Image& image) {
           const auto same = std::ranges::lower_bound(known, image.begin, {}, &inspect::Image::begin);
           return same == known.end() || same->begin != image.begin || same->end != image.end ||
                  same->path != image.path;
         });
}

void Target::readFilesAnew() {
  offsets_.clear();
  files_.emplace();
  substitutes_.clear();
  (void)images().readMaps(processId_);
  addKernelCode();
  for (const std::string& path : binaries_) {
    try {
      addBinary(path);
    } catch (const Failure&) {
      // Its library has been unloaded, or another build lies there now.
    }
  }
  (void)lookForTables();
}

// Returns: nothing while a program is about to begin, or if the process is gone or may not be looked at.
std::optional<Target::Mark> Target::readMark() const {
  std::ifstream file(inspect::ProcPath(processId_, "auxv").text(), std::ios::binary);
  uint64_t entry[2];  // of Elf64_auxv_t
  while (file.read(reinterpret_cast<char*>(entry), sizeof entry)) {
    Mark mark{entry[1], {}};
    if (entry[0] == AT_RANDOM && process_->get(mark.address, mark.bytes)) {
      return mark;
    }
  }
  return std::nullopt;
}

// Returns: false, if the process has just begun and is not yet what can be looked at.
bool Target::tryToOpenProcess() {
  try {
    openProcess();
    findOffsets();
    return true;
  } catch (const Failure&) {
    if (!hasJustBegun(processId_)) {
      throw;
    }
    return false;
  }
}

void Target::openProcess() {
  checkProcess(processId_);
  offsets_.clear();
  files_.emplace();
  process_.emplace(processId_);
  mark_ = readMark();
  if (!files_->images.readMaps(processId_)) {
    failRefused(name_, processId_);
  }
  if (files_->images.all().empty()) {
    throw Failure(name_ + " has no memory: it has ended, or belongs to the kernel");
  }
  checkClass(name_, processId_);
  char byte;
  if (!process_->get(files_->images.all()[0].begin, byte)) {
    failRefused(name_, processId_);
  }
  addKernelCode();
}

void Target::addKernelCode() {
  const auto [begin, end] = files_->images.kernelCode();
  files_->kernelCode.resize(end - begin);
  if (process_->read(begin, files_->kernelCode.data(), files_->kernelCode.size())) {
    files_->images.addKernelCode(files_->kernelCode);
  }
}

void Target::openCore(const std::string& path) {
  files_.emplace();
  core_.emplace(path);
  files_->images.setPageSize(core_->pageSize());
  processId_ = core_->processId();
  const std::vector<std::string> changed = core_->changedFiles();
  for (const CoreFile::Mapping& each : core_->mappings()) {
    const bool mayOpen = !std::binary_search(changed.begin(), changed.end(), each.path);
    files_->images.add(each.begin, each.end, each.fileOffset, each.path, mayOpen);
  }
}

// The file stands for the one that has its build id, or else for the program.
void Target::addBinary(const std::string& path) {
  checkModule(path);
  const MappedFile file(path);
  const std::string id = buildIdOf(file.bytes());
  const std::span<const inspect::Image> images = files_->images.all();
  const auto indexOf = [&](auto isIt) {
    return static_cast<size_t>(std::ranges::find_if(images, isIt) - images.begin());
  };
  size_t chosen = indexOf([&](const inspect::Image& image) {
    return !id.empty() && image.fileOffset == 0 && buildIdOf(startOf(image)) == id;
  });
  if (chosen == images.size()) {
    chosen = indexOf([&](const inspect::Image& image) { return image.path == program(); });
  }
  if (chosen == images.size()) {
    throw Failure(path + " stands for nothing in " + name_ + ", whose program is not known");
  }
  const std::vector<unsigned char> start = startOf(images[chosen]);
  const std::string idOfOther = buildIdOf(start);
  const std::string anotherBuild = path + " is another build than " + std::string(images[chosen].path);
  if (!id.empty() && !idOfOther.empty() && id != idOfOther) {
    throw Failure(anotherBuild + ": their build ids differ");
  }
  if (!start.empty() && !hasSameSegments(file.bytes(), start)) {
    throw Failure(anotherBuild + ", or has debug information alone: its code lies at other places");
  }
  substitute(chosen, path);
}

void Target::substitute(size_t image, const std::string& path) {
  const std::string mapped(files_->images.all()[image].path);
  const auto [entry, isNew] = substitutes_.emplace(mapped, path);
  files_->images.substitute(image, entry->second.c_str());
  if (core_) {
    core_->substitute(mapped, entry->second);
  }
}

// Returns: the first page of what is mapped; empty, if it cannot be read.
std::vector<unsigned char> Target::startOf(const inspect::Image& image) const {
  std::vector<unsigned char> start(std::min<size_t>(kFirstPage, image.end - image.begin));
  return memory().read(image.begin, start.data(), start.size()) ? start : std::vector<unsigned char>();
}

std::string Target::lookForTables() {
  std::string otherRelease;
  for (const inspect::Image& image : files_->images.all()) {
    const inspect::Address table = inspect::findTable(memory(), image.begin);
    inspect::Offsets offsets;
    char release[16] = "";
    const auto state = inspect::readOffsets(memory(), table, offsets, release);
    if (table == 0 || state == inspect::TableState::NoTable) {
      continue;
    }
    if (state == inspect::TableState::Good) {
      offsets_.push_back(offsets);
    } else {
      otherRelease = release;
    }
  }
  return otherRelease;
}

void Target::findOffsets() {
  const std::string other = lookForTables();
  if (offsets_.empty()) {
    checkThatItLives();
  }
  if (offsets_.empty() && !other.empty()) {
    throw Failure(name_ + " uses weft " + other +
                  ", whose layout this program does not know: run the `weft` of that installation");
  }
  if (offsets_.empty()) {
    throw Failure(name_ + " does not use weft, or a release that is too old to be looked at");
  }
}

}  // namespace weft::inline v0_1::detail::tools
