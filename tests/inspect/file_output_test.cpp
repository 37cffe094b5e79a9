// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/file_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "inspect/text.h"

namespace {

using weft::detail::inspect::FileOutput;
using weft::detail::inspect::Text;

TEST(FileOutputTest, WritesAllToItsDescriptor) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  std::string read;
  // More than a pipe holds: the writer waits for the reader.
  constexpr size_t kSize = 300'000;
  std::thread reader([&] {
    char bytes[4096];
    while (read.size() < kSize) {
      const ssize_t size = ::read(ends[0], bytes, sizeof bytes);
      read.append(bytes, size > 0 ? static_cast<size_t>(size) : 0);
    }
  });
  FileOutput output(ends[1]);
  std::string expected;
  {
    Text text(&FileOutput::write, &output);
    for (size_t i = 0; i < kSize / 10; ++i) {
      text << "ten bytes\n";
      expected += "ten bytes\n";
    }
  }
  reader.join();
  EXPECT_EQ(output.error(), 0);
  EXPECT_EQ(read, expected);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(FileOutputTest, RemembersTheFirstErrorAndLeavesErrnoAlone) {
  FileOutput output(-1);
  errno = 77;
  FileOutput::write(&output, "lost", 4);
  FileOutput::write(&output, "", 0);
  EXPECT_EQ(errno, 77);
  EXPECT_EQ(output.error(), EBADF);
}

TEST(FileOutputTest, TellsTheErrorOfAFullDisk) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  FileOutput output(full);
  {
    Text text(&FileOutput::write, &output);
    text << "lost";
  }
  EXPECT_EQ(output.error(), ENOSPC);
  ::close(full);
  // What comes after an error is dropped: the first one stands.
  FileOutput::write(&output, "lost too", 8);
  EXPECT_EQ(output.error(), ENOSPC);
}

}  // namespace
