// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/offsets.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <vector>

#include "inspect/process_memory.h"
#include "scheduler/core/layout.h"

namespace offsets_test {

using namespace weft::detail::inspect;

// A copy of the table of the library, to be damaged.
class OffsetsTest : public testing::Test {
 protected:
  OffsetsTest() {
    const auto* first = static_cast<const LayoutEntry*>(table.entries);
    entries.assign(first, first + table.numEntries);
    table.entries = entries.data();
  }

  TableState read() { return readOffsets(memory, reinterpret_cast<Address>(&table), offsets, release); }

  uint64_t& valueOf(const char* name) {
    for (LayoutEntry& entry : entries) {
      if (std::strcmp(entry.name, name) == 0) {
        return entry.value;
      }
    }
    ADD_FAILURE() << name;
    return entries[0].value;
  }

  const ProcessMemory memory{getpid()};
  LayoutTable table = weft::detail::layoutTable;
  std::vector<LayoutEntry> entries;
  Offsets offsets;
  char release[16] = "";
};

TEST_F(OffsetsTest, ReadsTheTableOfTheLibrary) {
  EXPECT_EQ(read(), TableState::Good);
  EXPECT_EQ(offsets.schedulers, reinterpret_cast<Address>(table.schedulers));
  EXPECT_EQ(offsets.fiberSize, valueOf("Fiber.size"));
  EXPECT_STREQ(release, table.release);
}

TEST_F(OffsetsTest, PassesOverNamesThatItDoesNotKnow) {
  LayoutEntry further{"Fiber.this_name_has_thirtynine_letters_", 1};
  entries.insert(entries.begin(), further);
  table.entries = entries.data();
  ++table.numEntries;
  EXPECT_EQ(read(), TableState::Good);
}

TEST_F(OffsetsTest, TellsTheReleaseOfAnotherVersion) {
  ++table.version;
  std::memcpy(table.release, "12.3.4", 7);
  EXPECT_EQ(read(), TableState::OtherVersion);
  EXPECT_STREQ(release, "12.3.4");
}

TEST_F(OffsetsTest, MissesANameThatIsNotThere) {
  --table.numEntries;
  EXPECT_EQ(read(), TableState::Incomplete);
}

TEST_F(OffsetsTest, BelievesNoNumberThatMakesNoSense) {
  valueOf("Fiber.size") = uint64_t{1} << 40;
  EXPECT_EQ(read(), TableState::Incomplete);
  valueOf("Fiber.size") = 0;
  EXPECT_EQ(read(), TableState::Incomplete);
  table.numEntries = 1'000'000'000;
  EXPECT_EQ(read(), TableState::Incomplete);
}

TEST_F(OffsetsTest, SaysThatThereIsNoTable) {
  table.magic[0] = 'W';
  EXPECT_EQ(read(), TableState::NoTable);
  EXPECT_EQ(readOffsets(memory, 8, offsets, release), TableState::NoTable);
}

}  // namespace offsets_test
