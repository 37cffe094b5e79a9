// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/file_watch.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace weft::inline v0_1::detail::tools {

FileWatch::FileWatch(const inspect::Memory& memory, std::span<const inspect::Image> images)
    : memory_(memory) {
  for (const inspect::Image& image : images) {
    char magic[SELFMAG];
    if (image.fileOffset == 0 && image.end - image.begin >= kStart && memory.get(image.begin, magic) &&
        std::memcmp(magic, ELFMAG, SELFMAG) == 0) {
      files_.push_back({image.begin, image.end});
    }
  }
  read(then_);
}

bool FileWatch::look() {
  read(now_);
  bool areSame = true;
  for (size_t i = 0; i < files_.size(); ++i) {
    const char* const now = now_.data() + i * kStart;
    files_[i].isGone = !pieces_[i].isRead || std::memcmp(now, then_.data() + i * kStart, kStart) != 0;
    areSame = areSame && !files_[i].isGone;
  }
  return areSame;
}

bool FileWatch::wasGone(inspect::Address address) const {
  return std::ranges::any_of(files_, [address](const File& file) {
    return file.isGone && address >= file.begin && address < file.end;
  });
}

void FileWatch::read(std::vector<char>& starts) {
  starts.resize(files_.size() * kStart);
  pieces_.clear();
  for (size_t i = 0; i < files_.size(); ++i) {
    pieces_.push_back({files_[i].begin, starts.data() + i * kStart, kStart, false});
  }
  memory_.readMany(pieces_.data(), pieces_.size());
}

}  // namespace weft::inline v0_1::detail::tools
