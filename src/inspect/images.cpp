// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/images.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "inspect/demangle.h"
#include "inspect/proc_path.h"
#include "os/c_library.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr size_t kLine = size_t{16} << 10;  // a path has at most 4 KiB, and 16 KiB with all bytes escaped
constexpr std::string_view kKernelCode = "[vdso]";

std::string_view fileNameOf(const Image& image) {
  const std::string_view path = withoutDeletedMark(image.path);
  return path.substr(path.rfind('/') + 1);
}

uint64_t takeNumber(std::string_view& text, unsigned base) {
  uint64_t value = 0;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                                                  : base;
    if (digit >= base) {
      break;
    }
    value = value * base + digit;
  }
  return value;
}

std::string_view takeWord(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

// Reads a file of the kernel's line by line. Returns: 0, or the errno if not all of it could be read.
template <class F>
int visitLines(const char* path, std::pmr::memory_resource* memory, F visit) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return errno;
  }
  std::pmr::vector<char> buffer(2 * kLine, memory);
  size_t used = 0;
  ssize_t now = 0;
  while (used != buffer.size()) {
    now = read(file, buffer.data() + used, buffer.size() - used);
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now <= 0) {
      break;
    }
    used += static_cast<size_t>(now);
    std::string_view left(buffer.data(), used);
    for (size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
      visit(left.substr(0, end));
      left.remove_prefix(end + 1);
    }
    std::memmove(buffer.data(), left.data(), left.size());
    used = left.size();
  }
  const int error = now < 0 ? errno : now > 0 || used != 0 ? EIO : 0;
  close(file);
  return error;
}

std::string_view copyOf(std::string_view text, std::pmr::memory_resource* memory) {
  auto* copy = static_cast<char*>(memory->allocate(text.size() + 1, 1));
  text.copy(copy, text.size());
  copy[text.size()] = '\0';
  return {copy, text.size()};
}

void writeSystemError(Text& out, int error) {
  if (const char* const text = errorText(error); text != nullptr) {
    out << text;
  } else {
    (out << "errno ").decimal(static_cast<uint32_t>(error));
  }
}

}  // namespace

Images::~Images() {
  for (const Image& image : images_) {
    if (image.file != nullptr) {
      deleteFile(image.file);
    }
    memory_->deallocate(const_cast<char*>(image.path.data()), image.path.size() + 1, 1);
  }
}

bool Images::readMaps(int processId) {
  processId_ = processId;
  failure_ = visitLines(ProcPath(processId, "maps").text(), memory_,
                        [this](std::string_view line) { addLine(line); });
  return failure_ == 0;
}

// "5581e000-5581f000 r-xp 00001000 fe:00 1234      /usr/bin/program"
void Images::addLine(std::string_view line) {
  const Address begin = takeNumber(line, 16);
  line.remove_prefix(std::min<size_t>(1, line.size()));
  const Address end = takeNumber(line, 16);
  takeWord(line);
  std::string_view offsetText = takeWord(line);
  const uint64_t offset = takeNumber(offsetText, 16);
  takeWord(line);
  takeWord(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (line.starts_with('/')) {
    add(begin, end, offset, line);
  } else if (line == kKernelCode) {
    kernelCode_ = {begin, end};
  }
}

// A file has several mappings, of growing offsets. One that a program maps to read it is an image of its own.
// (A small file may be mapped several times from offset 0, if its parts share its first page.)
void Images::add(Address begin, Address end, uint64_t fileOffset, std::string_view path, bool mayOpen) {
  Image* last = images_.empty() ? nullptr : &images_.back();
  const bool isSamePage = fileOffset == 0 && lastOffset_ == 0 && last != nullptr && last->end == begin &&
                          begin - lastBegin_ == pageSize_;
  if (last != nullptr && last->path == path && (isSamePage || fileOffset > 0) && fileOffset >= lastOffset_) {
    last->end = end;
  } else {
    Image image;
    image.begin = begin;
    image.end = end;
    image.fileOffset = fileOffset;
    image.wasTried = !mayOpen;
    images_.push_back(image);
    images_.back().path = copyOf(path, memory_);
  }
  lastBegin_ = begin;
  lastOffset_ = fileOffset;
}

void Images::addKernelCode(std::span<const unsigned char> bytes) {
  ElfFile* const file = newFile();
  if (!file->openBytes(bytes.data(), bytes.size())) {
    deleteFile(file);
    return;
  }
  Image image;
  image.begin = kernelCode_.begin;
  image.end = kernelCode_.end;
  image.bias = kernelCode_.begin - file->lowestAddress();
  image.path = copyOf(kKernelCode, memory_);
  image.file = file;
  image.wasTried = true;
  images_.insert(std::ranges::upper_bound(images_, image.begin, {}, &Image::begin), image);
}

void Images::substitute(size_t index, const char* path) {
  images_[index].substitute = path;
  images_[index].wasTried = false;
}

const Image* Images::find(Address address) {
  auto after = std::upper_bound(images_.begin(), images_.end(), address,
                                [](Address a, const Image& image) { return a < image.begin; });
  if (after == images_.begin() || address >= (--after)->end) {
    return nullptr;
  }
  if (!after->wasTried) {
    after->wasTried = true;
    open(*after);
  }
  return &*after;
}

CodePlace Images::place(Address address) {
  CodePlace place;
  place.image = find(address);
  if (place.image == nullptr) {
    return place;
  }
  ElfFile* file = place.image->file;
  ElfFile::Symbol symbol;
  place.inImage = address - (file != nullptr ? place.image->bias : place.image->begin);
  if (file != nullptr && file->symbolAt(place.inImage, symbol)) {
    place.function = symbol.name;
    place.offset = place.inImage - symbol.address;
  }
  return place;
}

void Images::open(Image& image) {
  openError_ = 0;
  tryToOpen(image);
  if (image.file == nullptr && failure_ == 0 && openError_ != 0) {
    failure_ = openError_;
    failedPath_ = image.substitute != nullptr ? std::string_view(image.substitute) : image.path;
  }
}

void Images::tryToOpen(Image& image) {
  if (image.substitute != nullptr) {
    openAs(image, image.substitute);
    return;
  }
  if (image.path.ends_with(kDeletedMark) || !openAs(image, image.path.data())) {
    openByProcess(image);
  }
}

// Opens the file by what the kernel knows of the process: where the file was deleted, or where the process
// has another root.
void Images::openByProcess(Image& image) {
  if (processId_ == 0) {
    return;
  }
  std::pmr::string other(ProcPath(processId_, "exe").view(), memory_);
  std::pmr::vector<char> target(image.path.size() + 1, memory_);
  const ssize_t size = readlink(other.c_str(), target.data(), target.size());
  if (size > 0 && std::string_view(target.data(), static_cast<size_t>(size)) == image.path) {
    openAs(image, other.c_str());
    return;
  }
  if (!image.path.ends_with(kDeletedMark)) {
    other.assign(ProcPath(processId_, "root").view()).append(image.path);
    if (openAs(image, other.c_str())) {
      return;
    }
  }
  // Names the first mapping, whose end is not that of the image.
  bool isOpen = false;
  other.assign(ProcPath(processId_, "maps").view());
  const int error = visitLines(other.c_str(), memory_, [&](std::string_view line) {
    const std::string_view range = line.substr(0, line.find(' '));
    std::string_view begin = range;
    if (!isOpen && takeNumber(begin, 16) == image.begin) {
      other.assign(ProcPath(processId_, "map_files/").view()).append(range);
      isOpen = openAs(image, other.c_str());
    }
  });
  noteError(error);
}

bool Images::openAs(Image& image, const char* path) {
  ElfFile* const file = newFile();
  if (!file->open(path)) {
    noteError(file->error());
    deleteFile(file);
    return false;
  }
  image.file = file;
  image.bias = biasOf(image);
  return true;
}

ElfFile* Images::newFile() const {
  return new (memory_->allocate(sizeof(ElfFile), alignof(ElfFile))) ElfFile(memory_);
}

void Images::deleteFile(ElfFile* file) const {
  std::destroy_at(file);
  memory_->deallocate(file, sizeof(ElfFile), alignof(ElfFile));
}

void Images::noteError(int error) {
  if (openError_ == 0) {
    openError_ = error;
  }
}

// Where the first mapping lies, less where the file wants what begins there. The page in which a segment
// begins is mapped whole.
Address Images::biasOf(const Image& image) const {
  for (uint64_t i = 0; i < image.file->numSegments(); ++i) {
    const ElfFile::Segment loaded = image.file->segment(i);
    const uint64_t first = loaded.offset & ~(pageSize_ - 1);
    if (loaded.type == PT_LOAD && image.fileOffset >= first &&
        image.fileOffset - first < loaded.offset - first + loaded.fileSize) {
      return image.begin - image.fileOffset - (loaded.address - loaded.offset);
    }
  }
  return image.begin - image.file->lowestAddress();
}

void Images::writeFailure(Text& out) const {
  if (failure_ != 0) {
    out << "Names and calls are missing: ";
    out << (failedPath_.empty() ? ProcPath(processId_, "maps").view() : failedPath_) << " cannot be read (";
    writeSystemError(out, failure_);
    out << ").\n";
  }
}

void writePlace(Text& out, const CodePlace& place) {
  if (place.image == nullptr) {
    out << "???";
    return;
  }
  if (!place.function.empty()) {
    writeFunctionOf(out, place);
    (out << '+').hex(place.offset) << ' ';
  }
  writePlaceInFile(out, place);
}

void writeFunctionOf(Text& out, const CodePlace& place) {
  if (place.image == nullptr) {
    out << "???";
  } else if (place.function.empty()) {
    out << '(' << fileNameOf(*place.image) << ')';
  } else {
    isOfWeft(place) ? writeOwnFunction(out, place.function) : writeFunction(out, place.function);
  }
}

void writePlaceInFile(Text& out, const CodePlace& place) {
  (out << '(' << fileNameOf(*place.image) << '+').hex(place.inImage) << ')';
}

}  // namespace weft::inline v0_1::detail::inspect
