// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <elf.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory_resource>
#include <random>
#include <string>
#include <vector>

#include <weft/sanitizers.h>

#include "inspect/arena.h"
#include "inspect/eh_frame.h"
#include "inspect/elf_file.h"
#include "temporary_folder.h"

// Files of code: whole ones, stripped ones and damaged ones.

using weft::detail::inspect::Address;
using weft::detail::inspect::Arena;
using weft::detail::inspect::EhFrame;
using weft::detail::inspect::ElfFile;
using weft::detail::inspect::FrameEntry;
using weft::tests::TemporaryFolder;

// A note of this program, and functions that it does not export.
asm(R"(
  .pushsection .note.weft_test, "a", @note
  .p2align 2
  .long 5, 4, 77
  .asciz "test"
  .p2align 2
  .globl weft_test_note_content
  .hidden weft_test_note_content
weft_test_note_content:
  .long 0x12345678
  .popsection
)");

extern "C" {
[[gnu::visibility("hidden")]] extern const uint32_t weft_test_note_content;
extern const char __executable_start;  // the linker's: where the program begins
}

namespace {

constexpr const char* kSelf = "/proc/self/exe";

[[gnu::noinline, gnu::used]] int staticFunctionOfElfTest(int x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}

std::vector<char> contentOf(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The address in the file of what lies at `p` here.
Address inFile(const ElfFile& file, const void* p) {
  return reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(&__executable_start) +
         file.lowestAddress();
}

const void* aFunction() { return reinterpret_cast<const void*>(&staticFunctionOfElfTest); }

bool hasTestNote(const ElfFile& file) {
  return file.visitNotes([](ElfFile::Note& note) {
    return note.name == "test" && note.type == 77 && note.content.left() == 4 &&
           note.content.get<uint32_t>() == 0x12345678;
  });
}

TEST(ElfFileTest, FindsAStaticFunctionThatIsNotExported) {
  Arena arena;
  ElfFile file(&arena);
  ASSERT_TRUE(file.open(kSelf));
  ElfFile::Symbol symbol;
  const Address begin = inFile(file, aFunction());
  ASSERT_TRUE(file.symbolAt(begin + 1, symbol));
  EXPECT_NE(symbol.name.find("staticFunctionOfElfTest"), std::string::npos) << symbol.name;
  EXPECT_EQ(symbol.address, begin);
  EXPECT_GT(symbol.size, 0u);
  EXPECT_FALSE(file.symbolAt(0, symbol));
  EXPECT_FALSE(file.symbolAt(~Address{0}, symbol));
  EXPECT_EQ(staticFunctionOfElfTest(1), 2);
}

TEST(ElfFileTest, FindsANoteWithItsAddress) {
  Arena arena;
  ElfFile file(&arena);
  ASSERT_TRUE(file.open(kSelf));
  EXPECT_TRUE(hasTestNote(file));
  Address found = 0;
  file.visitNotes([&found](ElfFile::Note& note) {
    found = note.name == "test" ? note.content.address() : found;
    return false;
  });
  EXPECT_EQ(found, inFile(file, &weft_test_note_content));
}

TEST(ElfFileTest, TheTableAndTheListOfFramesAgree) {
  Arena arena;
  ElfFile file(&arena);
  ASSERT_TRUE(file.open(kSelf));
  // Without its program headers' PT_GNU_EH_FRAME the frames are found by their section, and are not sorted.
  std::vector<char> bytes = contentOf(kSelf);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    char* at = bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, at, sizeof segment);
    segment.p_type = segment.p_type == PT_GNU_EH_FRAME ? PT_NULL : segment.p_type;
    std::memcpy(at, &segment, sizeof segment);
  }
  ElfFile without(&arena);
  ASSERT_TRUE(without.openBytes(bytes.data(), bytes.size()));
  FrameEntry byTable;
  FrameEntry byList;
  const Address begin = inFile(file, aFunction());
  ASSERT_TRUE(EhFrame(file).find(begin, byTable));
  ASSERT_TRUE(EhFrame(without).find(begin, byList));
  EXPECT_EQ(byTable.begin, begin);
  EXPECT_EQ(byList.begin, begin);
  EXPECT_EQ(byList.end, byTable.end);
  EXPECT_EQ(byList.instructions.left(), byTable.instructions.left());
  EXPECT_FALSE(EhFrame(file).find(0, byTable));
  EXPECT_FALSE(EhFrame(without).find(0, byTable));
}

TEST(ElfFileTest, AStrippedProgramKeepsItsNotesAndFrames) {
  const TemporaryFolder folder;
  const std::string copy = folder.path() + "/stripped";
  const std::string program = std::filesystem::read_symlink(kSelf).string();
  if (std::system(("strip -s -o " + copy + " " + program + " 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "there is no strip";
  }
  Arena arena;
  ElfFile file(&arena);
  ASSERT_TRUE(file.open(copy.c_str()));
  EXPECT_TRUE(hasTestNote(file));
  FrameEntry entry;
  EXPECT_TRUE(EhFrame(file).find(inFile(file, aFunction()), entry));
  ElfFile::Symbol symbol;
  EXPECT_TRUE(!file.symbolAt(inFile(file, aFunction()), symbol) ||
              symbol.name.find("staticFunction") == std::string::npos);
}

TEST(ElfFileTest, WhatIsNoElfFileIsRefused) {
  Arena arena;
  EXPECT_FALSE(ElfFile(&arena).open("/proc/self/maps"));
  EXPECT_FALSE(ElfFile(&arena).open("/dev/null"));
  EXPECT_FALSE(ElfFile(&arena).open("/"));
  EXPECT_FALSE(ElfFile(&arena).open("/no/such/file"));
  EXPECT_FALSE(ElfFile(&arena).openBytes("", 0));
  const std::string text(1000, 'x');
  EXPECT_FALSE(ElfFile(&arena).openBytes(text.data(), text.size()));
}

// Asks for all that a file has. The answers do not matter.
uint64_t readAll(const void* bytes, size_t size) {
  Arena arena;
  ElfFile file(&arena);
  uint64_t sum = 0;
  if (!file.openBytes(bytes, size)) {
    return sum;
  }
  file.visitNotes([&sum](ElfFile::Note& note) {
    sum += note.name.size() + note.content.get<uint8_t>();
    return false;
  });
  const EhFrame frames(file);
  for (Address address = 0; address < 0x4000; address += 0x400) {
    ElfFile::Symbol symbol;
    FrameEntry entry;
    sum += file.symbolAt(address, symbol) ? symbol.name.size() : 0;
    sum += frames.find(address, entry) ? entry.begin : 0;
  }
  sum += file.loadedFrom(0x1000).left() + file.section(".text").left() + file.lowestAddress();
  return sum;
}

// A small file of code: a sanitizer's would be large. None, where its order of bytes is another one.
std::vector<char> smallFile() {
  const bool isReadable = weft::detail::inspect::kByteOrder == ELFDATA2LSB;
  return isReadable ? contentOf("/lib/x86_64-linux-gnu/libdl.so.2") : std::vector<char>();
}

TEST(ElfFileTest, AFileThatIsCutGivesNoFault) {
  const std::vector<char> whole = smallFile();
  if (whole.empty()) {
    GTEST_SKIP() << "there is no small file of code";
  }
  for (size_t i = 0; i < 200; ++i) {
    const size_t size = whole.size() * i / 200;
    // Of its own size, so that AddressSanitizer sees a step over its end.
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    readAll(cut.data(), cut.size());
  }
  EXPECT_NE(readAll(whole.data(), whole.size()), 0u);
}

TEST(ElfFileTest, AFileWithWrongBitsGivesNoFault) {
  const std::vector<char> whole = smallFile();
  if (whole.empty()) {
    GTEST_SKIP() << "there is no small file of code";
  }
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::vector<char> damaged = whole;
    // More of them where the file says what it has.
    for (const size_t range : {size_t{64}, size_t{1024}, damaged.size()}) {
      for (int j = 0; j < (range == damaged.size() ? 200 : 2); ++j) {
        damaged[random() % range] ^= static_cast<char>(1u << random() % 8);
      }
    }
    std::copy_n(whole.begin(), i % 2 == 0 ? 6 : 0, damaged.begin());
    readAll(damaged.data(), damaged.size());
  }
}

}  // namespace
