// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <mutex>
#include <string_view>
#include <thread>

#include "io/descriptor_table.h"
#include "io/io_pairs.h"

namespace weft::tests {

// Closes a descriptor on another thread, and lets something else have its number where that is asked for,
// from which there is something to read. Made, it has begun to close; destroyed, it has ended.
class Closer {
 public:
  enum class Next { Nothing, Others };

  explicit Closer(io::UniqueFd& closed, Next next = Next::Others)
      : number_(closed.get()),
        slot_(*detail::descriptorSlot(number_, error_)),
        before_(detail::stateNow(slot_, number_)),
        next_(next) {
    io::write(others_.writer.get(), bytesOf("not"));
    thread_ = std::thread([this, &closed] {
      closed.reset();
      if (next_ == Next::Others) {
        EXPECT_EQ(::dup(others_.reader.get()), number_) << "the system takes the lowest number";
      }
    });
    while (!isClosing()) {
      std::this_thread::yield();
    }
  }
  ~Closer() {
    thread_.join();
    if (next_ == Next::Others) {
      ::close(number_);
    }
  }
  Closer(const Closer&) = delete;
  Closer& operator=(const Closer&) = delete;

  // Fails if the descriptor is closed before long.
  void expectThatItWaits() const {
    struct stat others{}, found{};
    EXPECT_EQ(::fstat(others_.reader.get(), &others), 0);
    for (int i = 0; i < 1'000; ++i) {
      std::this_thread::yield();
      ASSERT_EQ(::fstat(number_, &found), 0) << "it is closed";
      ASSERT_NE(found.st_ino, others.st_ino) << "its number is used again";
    }
  }

 private:
  bool isClosing() const {
    const std::scoped_lock guard(slot_.lock);
    return slot_.generation != before_.generation;
  }

  const int number_;
  int error_ = 0;
  const Ends others_ = makeEnds();
  detail::DescriptorSlot& slot_;
  const detail::DescriptorState before_;
  const Next next_;
  std::thread thread_;
};

}  // namespace weft::tests
