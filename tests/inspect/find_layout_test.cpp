// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/find_layout.h"

#include <gtest/gtest.h>

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/elf_file.h"
#include "inspect/layout.h"
#include "inspect/process_memory.h"
#include "waiting_program.h"

namespace find_layout_test {

using namespace weft::detail::inspect;

// A program of layout_program.cpp.
class Child final : public Memory {
 public:
  explicit Child(const std::string& program) : program_(program), memory_(program_.id()) {}

  bool read(Address address, void* to, size_t size) const override { return memory_.read(address, to, size); }

  Address schedulers() const { return std::stoull(program_.line(), nullptr, 16); }

  // Returns: the first address of the file's mappings.
  Address beginOf(std::string_view file) const {
    std::ifstream maps("/proc/" + std::to_string(program_.id()) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.ends_with(file)) {
        return std::stoull(line, nullptr, 16);
      }
    }
    ADD_FAILURE() << file << " is not mapped";
    return 0;
  }

 private:
  const weft::tests::WaitingProgram program_;
  const ProcessMemory memory_;
};

// A program beside this one.
std::string pathOf(const std::string& name) { return WEFT_TEST_FOLDER "/" + name; }

// What may be read has its own bytes.
class Bytes final : public Memory {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  bool read(Address address, void* to, size_t size) const override {
    if (address > bytes_.size() || size > bytes_.size() - address) {
      return false;
    }
    std::memcpy(to, bytes_.data() + address, size);
    return true;
  }

 private:
  std::string bytes_;
};

void expectFound(const std::string& program, const std::string& file) {
  const Child child(pathOf(program));
  LayoutTable table{};
  ASSERT_TRUE(child.get(findTable(child, child.beginOf(file)), table)) << program;
  EXPECT_EQ(reinterpret_cast<Address>(table.schedulers), child.schedulers()) << program;
  EXPECT_STREQ(table.release, "12.3.4");
}

TEST(FindLayoutTest, FindsTheTableInAProgram) { expectFound("layout_pie", "layout_pie"); }

TEST(FindLayoutTest, FindsTheTableInAProgramThatIsNotPositionIndependent) {
  expectFound("layout_fixed", "layout_fixed");
}

TEST(FindLayoutTest, FindsTheTableInAStrippedProgram) { expectFound("layout_stripped", "layout_stripped"); }

TEST(FindLayoutTest, FindsTheTableInASharedLibrary) {
  expectFound("layout_user", "liblayout_library.so");
  const Child child(pathOf("layout_user"));
  EXPECT_EQ(findTable(child, child.beginOf("layout_user")), 0u);
}

TEST(FindLayoutTest, FindsNoneWhereThereIsNoImage) {
  EXPECT_EQ(findTable(Bytes(""), 0), 0u);
  EXPECT_EQ(findTable(Bytes(std::string(4096, '\x7f')), 0), 0u);
}

// As on a system with pages of 64 KiB, where the first mapping begins before the first segment.
TEST(FindLayoutTest, FindsTheTableIfTheFirstSegmentBeginsWithinAPage) {
  struct {
    Elf64_Ehdr header{};
    Elf64_Phdr segments[2]{};
    char unused[0x2000]{};
    Elf64_Nhdr note{sizeof kLayoutNoteName, sizeof(int32_t), kLayoutNoteType};
    char name[sizeof kLayoutNoteName]{};
    alignas(4) int32_t distance = 0x100;
  } bytes;
  using File = decltype(bytes);
  std::memcpy(bytes.header.e_ident, ELFMAG, SELFMAG);
  bytes.header.e_ident[EI_CLASS] = ELFCLASS64;
  bytes.header.e_ident[EI_DATA] = kByteOrder;
  bytes.header.e_phoff = offsetof(File, segments);
  bytes.header.e_phentsize = sizeof bytes.segments[0];
  bytes.header.e_phnum = 2;
  bytes.segments[0] = {PT_LOAD, PF_R, 0x2000, 0x42000, 0, 0x1000, 0x1000, 0x10000};
  const uint64_t note = offsetof(File, note);
  bytes.segments[1] = {PT_NOTE, PF_R, note, 0x40000 + note, 0, sizeof bytes - note, sizeof bytes - note, 4};
  std::memcpy(bytes.name, kLayoutNoteName, sizeof kLayoutNoteName);
  const Bytes memory(std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes));
  EXPECT_EQ(findTable(memory, 0), offsetof(File, distance) + 0x100);
}

TEST(FindLayoutTest, FindsNoneInAFileOfTheOtherOrderOfBytes) {
  std::ifstream file(pathOf("layout_pie"), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(findTable(Bytes(bytes), 0), 0u);
  bytes[EI_DATA] = static_cast<char>(ELFDATA2LSB + ELFDATA2MSB - kByteOrder);
  EXPECT_EQ(findTable(Bytes(bytes), 0), 0u);
}

// Each byte of the headers is changed in turn, and the file is cut at each length.
TEST(FindLayoutTest, SurvivesHeadersThatAreDamaged) {
  std::ifstream file(pathOf("layout_pie"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  ASSERT_GT(bytes.size(), 4096u);
  for (size_t i = 0; i < 1024; ++i) {
    for (const char wrong : {'\0', '\x7f', '\xff'}) {
      std::string damaged = bytes.substr(0, 4096);
      damaged[i] = wrong;
      static_cast<void>(findTable(Bytes(damaged), 0));
    }
    const Bytes cut(bytes.substr(0, i));
    LayoutTable table{};
    const Address found = findTable(cut, 0);
    EXPECT_FALSE(found != 0 && cut.get(found, table)) << i;
  }
}

}  // namespace find_layout_test
