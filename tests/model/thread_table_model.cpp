// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/base/thread_table.h>

#include "explore.h"

// Seeded bug: base/thread_table.h:1
// Seeded bug: base/thread_table.h:1:acquire
// Seeded bug: base/thread_table.h:1:release
// Seeded bug: base/thread_table.h:1:split
// Seeded bug: base/thread_table.h:2
// Seeded bug: base/thread_table.h:3
namespace weft::model {
namespace {

// Null at first, as the production code's atomics are.
template <class T>
struct NullAtomic : RelacySync::Atomic<T> {
  NullAtomic() : RelacySync::Atomic<T>(T()) {}
};

struct Entry {
  RelacySync::Var<int> value;
};

// Three threads use their places of a table: the first two lie in one segment, the third in the segment
// `kThird`. Each looks for a value of its own, as ThreadTable::ownValue() does, and makes one, twice.
template <uint32_t kThird>
struct Table : rl::test_suite<Table<kThird>, 3> {
  detail::ThreadSegments<Entry, NullAtomic> segments;

  void thread(unsigned index) {
    const uint32_t segment = index == 2 ? kThird : 1;
    const int mine = static_cast<int>(index) + 1;
    for (int i = 0; i < 2; ++i) {
      const Entry* const there = segments.find(segment);
      check(there == nullptr ? i == 0 : there[index].value.get() == i * mine, "a thread finds its own value");
      Entry& own = segments.findOrMake(segment)[index];
      check(own.value.get() == i * mine, "an entry is null at first, and stays where it is");
      own.value.set((i + 1) * mine);
    }
  }

  void after() {
    int sum = 0;
    segments.forEach([&sum](const Entry& entry) { sum += entry.value.get(); });
    check(sum == 2 * (1 + 2 + 3), "the value of each thread is found at the end");
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return exploreFinite<Table<1>>("three threads of one segment", 300'000) &&
           exploreFinite<Table<2>>("three threads of two segments", 300'000);
  });
}
