// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/mail_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory_resource>

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "inspect/process_memory.h"
#include "inspect/snapshot_reader.h"
#include "scheduler/core/layout.h"
#include "with_scheduler.h"
#include "workers.h"

namespace mail_reader_test {

using namespace weft::detail::inspect;

class CountedMemory final : public Memory {
 public:
  bool read(Address address, void* to, size_t size) const override {
    ++numReads;
    return memory_.read(address, to, size);
  }
  mutable int numReads = 0;

 private:
  const ProcessMemory memory_{getpid()};
};

// One worker, which is busy while others place tasks on it.
class MailReaderTest : public testing::Test {
 protected:
  MailReaderTest() {
    char release[16];
    EXPECT_EQ(readOffsets(memory_, reinterpret_cast<Address>(&weft::detail::layoutTable), offsets_, release),
              TableState::Good);
    scheduler_.enqueueOn(0, busy_.task());
    busy_.awaitBegin();
  }
  ~MailReaderTest() override { busy_.end(); }

  void place(int count) {
    for (int i = 0; i < count; ++i) {
      scheduler_.enqueueOn(0, weft::Task([] {}));
    }
  }
  Worker read(Letters letters) {
    Snapshot snapshot(std::pmr::get_default_resource());
    memory_.numReads = 0;
    readSnapshot(memory_, offsets_, nullptr, Now::read(), snapshot, reinterpret_cast<Address>(&scheduler_),
                 letters);
    return snapshot.workers.at(0);
  }

  CountedMemory memory_;
  Offsets offsets_;
  weft::tests::BusyTask busy_;
  weft::Scheduler scheduler_{weft::tests::smallConfig(1)};
};

TEST_F(MailReaderTest, CountsTheTasksThatArePlacedOnAWorker) {
  EXPECT_EQ(read(Letters::Counted).numPinned, 0u);
  place(1000);
  const Worker worker = read(Letters::Counted);
  EXPECT_EQ(worker.numPinned, 1000u);
  EXPECT_EQ(worker.numQueued, 1000u);
  EXPECT_TRUE(worker.areLettersCounted);
}

TEST_F(MailReaderTest, NoticesThemWithoutMoreReadsWhereThereAreMore) {
  EXPECT_EQ(read(Letters::Noticed).numPinned, 0u);
  place(1);
  (void)read(Letters::Noticed);
  const int numReadsOfOne = memory_.numReads;
  place(999);
  const Worker worker = read(Letters::Noticed);
  EXPECT_EQ(memory_.numReads, numReadsOfOne);
  EXPECT_EQ(worker.numPinned, 1u);
  EXPECT_EQ(worker.numQueued, 1u);
  EXPECT_FALSE(worker.areLettersCounted);
}

TEST_F(MailReaderTest, CountsThemLaterOnce) {
  place(1000);
  Worker worker = read(Letters::Noticed);
  for (int i = 0; i < 2; ++i) {
    completeLetters(memory_, offsets_, worker);
    EXPECT_EQ(worker.numPinned, 1000u);
    EXPECT_EQ(worker.numQueued, 1000u);
  }
}

}  // namespace mail_reader_test
