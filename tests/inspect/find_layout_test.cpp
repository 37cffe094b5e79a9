// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/find_layout.h"

#include <gtest/gtest.h>

#include <sys/uio.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/layout.h"
#include "waiting_program.h"

namespace find_layout_test {

using namespace weft::detail::inspect;

// A program of layout_program.cpp.
class Child final : public Memory {
 public:
  explicit Child(const std::string& program) : program_(program) {}

  bool read(Address address, void* to, size_t size) const override {
    iovec local{to, size};
    iovec remote{reinterpret_cast<void*>(address), size};
    return process_vm_readv(program_.id(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
  }

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
