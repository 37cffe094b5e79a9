// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/mpi.h>

#include <new>
#include <vector>

#include "failing_allocations.h"
#include "mpi/ranks.h"

// What comes of a wait for more requests than fit into a frame if there is no memory for the others.
namespace weft::mpi_test {
namespace waits_without_memory_test {

class WaitsWithoutMemoryTest : public MpiTest {};
WEFT_INSTANTIATE_WITH_SCHEDULER(WaitsWithoutMemoryTest);

// Calls wait(requests) for operations that are done. First its first allocation fails, then its second, until
// it needs no more.
template <class Wait>
void expectNothingHasBegun(const mpi::Communicator& self, const Wait& wait) {
  constexpr int kMany = 40;
  std::vector<int> values(kMany, -1);
  std::vector<mpi::Request> requests;
  for (int& value : values) {
    requests.push_back(self.irecv(value));
    self.send(1, 0);
  }
  int numFailures = 0;
  for (bool isDone = false; !isDone;) {
    tests::numUntilFailure = numFailures;
    try {
      wait(requests);
      isDone = true;
    } catch (const std::bad_alloc&) {
      ++numFailures;
    }
    tests::numUntilFailure = -1;
    if (!isDone) {
      EXPECT_TRUE(requests.back().test());
      requests.back() = self.irecv(values.back());
      self.send(1, 0);
    }
  }
  EXPECT_GT(numFailures, 0);
  EXPECT_EQ(values, std::vector<int>(kMany, 1));
}

TEST_P(WaitsWithoutMemoryTest, AWaitForSeveralLeavesTheRequestsAsTheyWere) {
#if WEFT_THREAD_SANITIZER_ENABLED
  GTEST_SKIP() << "operator new is ThreadSanitizer's";
#endif
  expectNothingHasBegun(mpi::self(), [](std::vector<mpi::Request>& requests) { mpi::waitAll(requests); });
  expectNothingHasBegun(mpi::self(),
                        [](std::vector<mpi::Request>& requests) { (void)mpi::waitAny(requests); });
}

}  // namespace waits_without_memory_test
}  // namespace weft::mpi_test
