// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/same_file.h"

#include <elf.h>

#include <algorithm>
#include <memory_resource>
#include <vector>

#include "inspect/elf_file.h"

namespace weft::inline v0_1::detail::tools {

std::string buildIdOf(Bytes file) {
  inspect::ElfFile elf(std::pmr::new_delete_resource());
  std::string id;
  if (elf.openBytes(file.data(), file.size())) {
    elf.visitNotes([&id](const inspect::ElfFile::Note& note) {
      if (note.type != NT_GNU_BUILD_ID || note.name != ELF_NOTE_GNU) {
        return false;
      }
      id.assign(reinterpret_cast<const char*>(note.content.bytes()), note.content.left());
      return true;
    });
  }
  return id;
}

bool hasSameSegments(Bytes one, Bytes other) {
  inspect::ElfFile files[] = {inspect::ElfFile(std::pmr::new_delete_resource()),
                              inspect::ElfFile(std::pmr::new_delete_resource())};
  if (!files[0].openBytes(one.data(), one.size()) || !files[1].openBytes(other.data(), other.size())) {
    return false;
  }
  const auto loadedOf = [](const inspect::ElfFile& file) {
    std::vector<inspect::ElfFile::Segment> loaded;
    for (uint64_t i = 0; i < file.numSegments(); ++i) {
      const inspect::ElfFile::Segment segment = file.segment(i);
      if (segment.type == PT_LOAD) {
        loaded.push_back(segment);
      }
    }
    return loaded;
  };
  return std::ranges::equal(loadedOf(files[0]), loadedOf(files[1]),
                            [](const inspect::ElfFile::Segment& a, const inspect::ElfFile::Segment& b) {
                              return a.address == b.address && a.offset == b.offset &&
                                     a.fileSize == b.fileSize;
                            });
}

bool isFileThatBegins(Bytes file, Bytes start) {
  const std::string id = buildIdOf(start);
  const std::string idOfFile = buildIdOf(file);
  if (!id.empty() && !idOfFile.empty()) {
    return id == idOfFile && hasSameSegments(file, start);
  }
  const size_t size = std::min(file.size(), start.size());
  return std::equal(start.begin(), start.begin() + static_cast<ptrdiff_t>(size), file.begin());
}

}  // namespace weft::inline v0_1::detail::tools
