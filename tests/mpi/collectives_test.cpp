// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/mpi.h>

#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#include <weft/waitgroup.h>

#include "in_task.h"
#include "mpi/ranks.h"

// What all ranks of a communicator do together, against what one computes alone; derived datatypes; probes.
namespace weft::mpi_test {
namespace collectives_test {

using mpi::Communicator;
using mpi::Datatype;
using mpi::Request;

constexpr size_t kSizes[] = {0, 1, 7, 3000};

// The value with the number `i` of `rank`: small enough that sums of doubles are exact.
template <class T>
T valueOf(int rank, size_t i) {
  return static_cast<T>(static_cast<int>(i % 50) + 3 * rank + 1);
}
template <class T>
std::vector<T> valuesOf(int rank, size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = valueOf<T>(rank, i);
  }
  return values;
}

class CollectivesTest : public MpiTest {
 protected:
  std::vector<int> roots() const {
    return size == 1 ? std::vector<int>{0} : std::vector<int>{0, size / 2, size - 1};
  }

  // Calls test(count, root, type) for all of them, in a task.
  template <class... T, class Test>
  void withAll(const Test& test) {
    tests::inTask([&] {
      for (const size_t count : kSizes) {
        for (const int root : roots()) {
          (test(count, root, T()), ...);
        }
      }
    });
  }

  // Returns: of each place, the sum of all values of the ranks below `end`.
  template <class T>
  static std::vector<T> sums(int end, size_t count) {
    std::vector<T> sum(count, T());
    for (int r = 0; r < end; ++r) {
      for (size_t i = 0; i < count; ++i) {
        sum[i] += valueOf<T>(r, i);
      }
    }
    return sum;
  }
  // Returns: the values of all ranks, `count` of each, one after the other.
  template <class T>
  std::vector<T> all(size_t count) const {
    std::vector<T> joined;
    for (int r = 0; r < size; ++r) {
      const std::vector<T> values = valuesOf<T>(r, count);
      joined.insert(joined.end(), values.begin(), values.end());
    }
    return joined;
  }
  // Rank r has r values more than `count`, those with odd numbers none.
  static size_t unevenCount(int r, size_t count) { return r % 2 == 1 ? 0 : count + static_cast<size_t>(r); }
  std::vector<int> unevenCounts(size_t count) const {
    std::vector<int> counts;
    for (int r = 0; r < size; ++r) {
      counts.push_back(static_cast<int>(unevenCount(r, count)));
    }
    return counts;
  }
  template <class T>
  std::vector<T> allUneven(size_t count) const {
    std::vector<T> joined;
    for (int r = 0; r < size; ++r) {
      const std::vector<T> values = valuesOf<T>(r, unevenCount(r, count));
      joined.insert(joined.end(), values.begin(), values.end());
    }
    return joined;
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(CollectivesTest);

TEST_P(CollectivesTest, ABroadcastGivesAllTheValuesOfTheRoot) {
  withAll<int, double, uint8_t>([&](size_t count, int root, auto type) {
    using T = decltype(type);
    std::vector<T> data = valuesOf<T>(rank, count);
    world().bcast(data, root);
    EXPECT_EQ(data, valuesOf<T>(root, count));
    std::vector<T> again = valuesOf<T>(rank + 1, count);
    world().ibcast(again, root).wait();
    EXPECT_EQ(again, valuesOf<T>(root + 1, count));
  });
}

TEST_P(CollectivesTest, AReductionGivesTheRootTheSums) {
  withAll<int, double, long long>([&](size_t count, int root, auto type) {
    using T = decltype(type);
    const std::vector<T> mine = valuesOf<T>(rank, count);
    std::vector<T> result(count, T(-1));
    world().reduce(mine, result, MPI_SUM, root);
    const std::vector<T> expected = rank == root ? sums<T>(size, count) : std::vector<T>(count, T(-1));
    EXPECT_EQ(result, expected);
    std::vector<T> again(count, T(-1));
    world().ireduce(mine, again, MPI_SUM, root).wait();
    EXPECT_EQ(again, expected);
    // Only the root needs room.
    world().reduce(mine, rank == root ? mpi::Buffer(again) : mpi::Buffer(), MPI_MAX, root);
    EXPECT_EQ(again, rank == root ? valuesOf<T>(size - 1, count) : expected);
  });
}

TEST_P(CollectivesTest, AReductionForAllGivesEachTheSums) {
  withAll<int, double, std::complex<double>>([&](size_t count, int, auto type) {
    using T = decltype(type);
    const std::vector<T> mine = valuesOf<T>(rank, count);
    const std::vector<T> expected = sums<T>(size, count);
    std::vector<T> result(count);
    world().allreduce(mine, result, MPI_SUM);
    EXPECT_EQ(result, expected);
    std::vector<T> again(count);
    world().iallreduce(mine, again, MPI_SUM).wait();
    EXPECT_EQ(again, expected);
    std::vector<T> inPlace = mine;
    world().allreduce(inPlace, MPI_SUM);
    EXPECT_EQ(inPlace, expected);
  });
}

TEST_P(CollectivesTest, AScanGivesTheSumsOfTheRanksBefore) {
  withAll<int, double>([&](size_t count, int, auto type) {
    using T = decltype(type);
    const std::vector<T> mine = valuesOf<T>(rank, count);
    std::vector<T> result(count);
    world().scan(mine, result, MPI_SUM);
    EXPECT_EQ(result, sums<T>(rank + 1, count));
    std::vector<T> before(count);
    world().exscan(mine, before, MPI_SUM);
    if (rank > 0) {
      EXPECT_EQ(before, sums<T>(rank, count));
    }
  });
}

TEST_P(CollectivesTest, AGatherGivesTheRootTheValuesOfAll) {
  withAll<int, double, uint8_t>([&](size_t count, int root, auto type) {
    using T = decltype(type);
    const std::vector<T> mine = valuesOf<T>(rank, count);
    const bool isRoot = rank == root;
    std::vector<T> joined(isRoot ? count * static_cast<size_t>(size) : 0);
    const std::vector<T> expected = isRoot ? all<T>(count) : joined;
    std::vector<T> again = joined;
    world().gather(mine, joined, root);
    EXPECT_EQ(joined, expected);
    world().igather(mine, again, root).wait();
    EXPECT_EQ(again, expected);
  });
}

TEST_P(CollectivesTest, AScatterGivesEachItsPart) {
  withAll<int, double, uint8_t>([&](size_t count, int root, auto type) {
    using T = decltype(type);
    const std::vector<T> joined = rank == root ? all<T>(count) : std::vector<T>();
    std::vector<T> mine(count), again(count);
    world().scatter(joined, mine, root);
    EXPECT_EQ(mine, valuesOf<T>(rank, count));
    world().iscatter(joined, again, root).wait();
    EXPECT_EQ(again, valuesOf<T>(rank, count));
  });
}

TEST_P(CollectivesTest, AGatherForAllGivesEachTheValuesOfAll) {
  withAll<int, double, uint8_t>([&](size_t count, int, auto type) {
    using T = decltype(type);
    const std::vector<T> mine = valuesOf<T>(rank, count);
    std::vector<T> joined(count * static_cast<size_t>(size)), again = joined;
    world().allgather(mine, joined);
    EXPECT_EQ(joined, all<T>(count));
    world().iallgather(mine, again).wait();
    EXPECT_EQ(again, all<T>(count));
  });
}

TEST_P(CollectivesTest, AnExchangeGivesEachItsPartOfAll) {
  withAll<int, double, uint8_t>([&](size_t count, int, auto type) {
    using T = decltype(type);
    const auto number = static_cast<size_t>(size);
    // Part p of rank r has the values of rank r * size + p.
    std::vector<T> parts, expected;
    for (int p = 0; p < size; ++p) {
      const std::vector<T> to = valuesOf<T>(rank * size + p, count);
      const std::vector<T> from = valuesOf<T>(p * size + rank, count);
      parts.insert(parts.end(), to.begin(), to.end());
      expected.insert(expected.end(), from.begin(), from.end());
    }
    std::vector<T> result(count * number), again = result;
    world().alltoall(parts, result);
    EXPECT_EQ(result, expected);
    world().ialltoall(parts, again).wait();
    EXPECT_EQ(again, expected);
  });
}

TEST_P(CollectivesTest, UnevenPartsAreGatheredAndScattered) {
  withAll<int, double>([&](size_t count, int root, auto type) {
    using T = decltype(type);
    const std::vector<int> counts = unevenCounts(count);
    const std::vector<T> expected = allUneven<T>(count);
    const std::vector<T> mine = valuesOf<T>(rank, unevenCount(rank, count));
    const bool isRoot = rank == root;
    std::vector<T> joined(isRoot ? expected.size() : 0);
    world().gatherv(mine, joined, isRoot ? counts : std::vector<int>(), root);
    if (isRoot) {
      EXPECT_EQ(joined, expected);
    }
    std::vector<T> part(mine.size());
    world().scatterv(joined, isRoot ? counts : std::vector<int>(), part, root);
    EXPECT_EQ(part, mine);
    std::vector<T> allJoined(expected.size());
    world().allgatherv(mine, allJoined, counts);
    EXPECT_EQ(allJoined, expected);
  });
}

TEST_P(CollectivesTest, UnevenPartsAreExchanged) {
  withAll<int, double>([&](size_t count, int, auto type) {
    using T = decltype(type);
    // Rank r sends r + p values to rank p.
    std::vector<int> counts;
    std::vector<T> parts, expected;
    for (int p = 0; p < size; ++p) {
      const size_t number = count == 0 ? 0 : static_cast<size_t>(rank + p);
      counts.push_back(static_cast<int>(number));
      const std::vector<T> to = valuesOf<T>(rank * size + p, number);
      const std::vector<T> from = valuesOf<T>(p * size + rank, number);
      parts.insert(parts.end(), to.begin(), to.end());
      expected.insert(expected.end(), from.begin(), from.end());
    }
    std::vector<T> result(expected.size());
    world().alltoallv(parts, counts, result, counts);
    EXPECT_EQ(result, expected);
  });
}

TEST_P(CollectivesTest, ABarrierIsLeftWhenAllHaveCome) {
  tests::inTask([&] {
    // The last to come is another one in each round.
    for (int last = 0; last < size; ++last) {
      int flag = 0;
      Request received = world().irecv(flag, last, 3);
      if (rank == last) {
        for (int to = 0; to < size; ++to) {
          world().send(1, to, 3);
        }
      }
      received.wait();
      Request barrier = world().ibarrier();
      barrier.wait();
      world().barrier();
      EXPECT_EQ(flag, 1);
    }
  });
  // Nobody leaves while one has not come.
  if (size > 1) {
    Request barrier;
    if (rank != 0) {
      barrier = world().ibarrier();
      EXPECT_FALSE(barrier.waitFor(std::chrono::milliseconds(1)));
      world().send(rank, 0, 4);
      barrier.wait();
    } else {
      for (int r = 1; r < size; ++r) {
        int from = 0;
        world().recv(from, Communicator::kAnySource, 4);
      }
      world().barrier();
    }
  }
}

TEST_P(CollectivesTest, SeveralAreUnderWayAtTheSameTime) {
  tests::inTask([&] {
    constexpr size_t kCount = 500;
    const std::vector<int> mine = valuesOf<int>(rank, kCount);
    std::vector<int> sum(kCount), data = mine, joined(kCount * static_cast<size_t>(size));
    std::vector<Request> requests;
    requests.push_back(world().iallreduce(mine, sum, MPI_SUM));
    requests.push_back(world().ibcast(data, size - 1));
    requests.push_back(world().iallgather(mine, joined));
    requests.push_back(world().ibarrier());
    mpi::waitAll(requests);
    EXPECT_EQ(sum, sums<int>(size, kCount));
    EXPECT_EQ(data, valuesOf<int>(size - 1, kCount));
    EXPECT_EQ(joined, all<int>(kCount));
  });
}

TEST_P(CollectivesTest, FibersWithACommunicatorEachDoNotDisturbEachOther) {
  constexpr int kFibers = 4;
  std::vector<Communicator> ranks;
  for (int i = 0; i < kFibers; ++i) {
    ranks.push_back(world().duplicate());
    EXPECT_NE(ranks.back().get(), MPI_COMM_WORLD);
    EXPECT_EQ(ranks.back().rank(), rank);
    EXPECT_EQ(ranks.back().size(), size);
  }
  WaitGroup done(kFibers);
  for (int i = 0; i < kFibers; ++i) {
    schedule([&, i, done] {
      const Communicator& own = ranks[static_cast<size_t>(i)];
      for (int round = 0; round < 10; ++round) {
        const int mine = (rank + 1) * (i + 1) + round;
        int sum = 0;
        own.allreduce(mine, sum, MPI_SUM);
        EXPECT_EQ(sum, size * (size + 1) / 2 * (i + 1) + size * round);
        int value = rank;
        own.bcast(value, round % size);
        EXPECT_EQ(value, round % size);
      }
      done.done();
    });
  }
  done.wait();
}

TEST_P(CollectivesTest, ASplitMakesRanksOfOneColorInTheOrderOfTheirKeys) {
  // Many ranks that wait within MPI_Comm_split(3) take their processors from each other.
  for (int isTask = size > 4 ? 1 : 0; isTask < 2; ++isTask) {
    const auto test = [&] {
      const int color = rank % 2;
      const Communicator half = world().split(color, -rank);
      const int number = color == 0 ? (size + 1) / 2 : size / 2;
      EXPECT_EQ(half.size(), number);
      EXPECT_EQ(half.rank(), number - 1 - rank / 2);
      std::vector<int> members(static_cast<size_t>(number));
      half.allgather(rank, members);
      for (int i = 0; i < number; ++i) {
        EXPECT_EQ(members[static_cast<size_t>(i)], (number - 1 - i) * 2 + color);
      }
      const Communicator none = world().split(rank == 0 ? 0 : MPI_UNDEFINED);
      EXPECT_EQ(none.get() != MPI_COMM_NULL, rank == 0);
      EXPECT_EQ(none.size(), rank == 0 ? 1 : 0);
    };
    if (isTask != 0) {
      tests::inTask(test);
    } else {
      test();
    }
  }
}

// A message of one communicator is not for another; a moved one has its place.
TEST_P(CollectivesTest, ACommunicatorHasMessagesOfItsOwn) {
  tests::inTask([&] {
    Communicator first = world().duplicate();
    Communicator second(std::move(first));
    EXPECT_EQ(first.get(), MPI_COMM_NULL);
    first = world().duplicate();
    int a = 0, b = 0;
    Request inFirst = first.irecv(a, left);
    Request inSecond = second.irecv(b, left);
    second.send(2, right);
    first.send(1, right);
    inFirst.wait();
    inSecond.wait();
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, 2);
    EXPECT_EQ(mpi::self().size(), 1);
    int sum = 0;
    mpi::self().allreduce(rank, sum, MPI_SUM);
    EXPECT_EQ(sum, rank);
  });
}

TEST_P(CollectivesTest, AColumnOfAMatrixIsSent) {
  constexpr size_t kRows = 30, kColumns = 8;
  tests::inTask([&] {
    std::vector<double> matrix(kRows * kColumns), received(kRows, 0), inColumn(kRows * kColumns, 0);
    std::iota(matrix.begin(), matrix.end(), rank * 1000.0);
    const Datatype column = Datatype::vector(kRows, 1, kColumns, MPI_DOUBLE);
    EXPECT_TRUE(column);
    const mpi::ConstBuffer third(&matrix[2], 1, column.get());
    Request asRow = world().irecv(received, left, 1);
    Request asColumn = world().irecv({&inColumn[5], 1, column.get()}, left, 2);
    world().send(third, right, 1);
    world().send(third, right, 2);
    EXPECT_EQ(asRow.wait().count<double>(), static_cast<int>(kRows));
    EXPECT_EQ(asColumn.wait().count(column.get()), 1);
    for (size_t i = 0; i < kRows * kColumns; ++i) {
      const double expected = left * 1000.0 + static_cast<double>(i / kColumns * kColumns + 2);
      EXPECT_EQ(inColumn[i], i % kColumns == 5 ? expected : 0);
    }
    for (size_t i = 0; i < kRows; ++i) {
      EXPECT_EQ(received[i], left * 1000.0 + static_cast<double>(i * kColumns + 2));
    }
  });
}

struct Particle {
  double place[3];
  char kind;
  int number;
};

TEST_P(CollectivesTest, AStructureIsSentWithoutItsGaps) {
  tests::inTask([&] {
    Datatype particle = Datatype::structure(sizeof(Particle), {{offsetof(Particle, place), 3, MPI_DOUBLE},
                                                               {offsetof(Particle, kind), 1, MPI_CHAR},
                                                               {offsetof(Particle, number), 1, MPI_INT}});
    Datatype moved(std::move(particle));
    EXPECT_FALSE(particle);
    particle = std::move(moved);
    constexpr size_t kMany = 50;
    std::vector<Particle> sent(kMany), received(kMany);
    for (size_t i = 0; i < kMany; ++i) {
      const auto d = static_cast<double>(i);
      sent[i] = {{d, d + 0.5, d * 2}, static_cast<char>('a' + i % 26), rank * 100 + static_cast<int>(i)};
    }
    const mpi::Status status = world().sendrecv({sent.data(), kMany, particle.get()}, right,
                                                {received.data(), kMany, particle.get()}, left);
    EXPECT_EQ(status.count(particle.get()), static_cast<int>(kMany));
    int bytes = 0;
    MPI_Type_size(particle.get(), &bytes);
    EXPECT_EQ(bytes, static_cast<int>(3 * sizeof(double) + sizeof(char) + sizeof(int)));
    for (size_t i = 0; i < kMany; ++i) {
      EXPECT_EQ(received[i].place[2], static_cast<double>(i) * 2);
      EXPECT_EQ(received[i].kind, static_cast<char>('a' + i % 26));
      EXPECT_EQ(received[i].number, left * 100 + static_cast<int>(i));
    }
    const Datatype triple = Datatype::contiguous(3, MPI_INT);
    std::array<int, 6> six{rank, 2, 3, 4, 5, 6}, got{};
    world().sendrecv({six.data(), 2, triple.get()}, right, got, left);
    EXPECT_EQ(got, (std::array{left, 2, 3, 4, 5, 6}));
  });
}

// Bytes are values of classes that have no datatype: a count that ends in the middle of one is none.
TEST_P(CollectivesTest, AStatusCountsValuesOfClasses) {
  tests::inTask([&] {
    std::vector<Particle> sent(3), received(5);
    EXPECT_EQ(world().sendrecv(sent, right, received, left).count<Particle>(), 3);
    std::vector<unsigned char> bytes(sizeof(Particle) + 1);
    const mpi::ConstBuffer part(bytes.data(), bytes.size(), MPI_BYTE);
    EXPECT_EQ(world().sendrecv(part, right, received, left).count<Particle>(), MPI_UNDEFINED);
  });
}

TEST_P(CollectivesTest, AProbeTellsOfAMessageThatIsReceivedLater) {
  const auto test = [&] {
    // Of the rank's own, since no other sends with this tag.
    EXPECT_FALSE(world().tryProbe(rank, 7));
    EXPECT_FALSE(world().probeFor(std::chrono::milliseconds(1), rank, 7));
    const std::vector<int> sent{1, 2, 3};
    const Request request = world().isend(sent, rank, 7);
    const mpi::Status status = world().probe(Communicator::kAnySource, 7);
    EXPECT_EQ(status.source(), rank);
    EXPECT_EQ(status.tag(), 7);
    EXPECT_EQ(status.count<int>(), 3);
    EXPECT_TRUE(world().probeFor(std::chrono::hours(1), rank, 7));
    EXPECT_TRUE(world().tryProbe(rank, 7));
    std::vector<int> received(3);
    world().recv(received, rank, 7);
    EXPECT_EQ(received, sent);
    EXPECT_FALSE(world().tryProbe(rank, 7));
  };
  test();
  tests::inTask(test);
}

TEST_P(CollectivesTest, FibersProbeForAMessageEachAndGetEachOnce) {
  constexpr int kMany = 60;
  std::vector<int> numTimes(kMany, 0);
  WaitGroup done(kMany);
  for (int i = 0; i < kMany; ++i) {
    schedule([&, done] {
      mpi::Message message = world().mprobe(left, 8);
      std::vector<int> values(static_cast<size_t>(message.status().count<int>()));
      EXPECT_EQ(message.recv(values).count<int>(), static_cast<int>(values.size()));
      EXPECT_EQ(values.back(), static_cast<int>(values.size()));
      numTimes[values.size() - 1]++;  // one fiber writes each, if each message comes once
      done.done();
    });
  }
  for (int i = 1; i <= kMany; ++i) {
    world().send(std::vector<int>(static_cast<size_t>(i), i), right, 8);
  }
  done.wait();
  EXPECT_EQ(numTimes, std::vector<int>(kMany, 1));
}

TEST_P(CollectivesTest, ACommunicatorWithoutRanksIsAnError) {
  const mpi::Communicator none;
  int value = 1;
  int result = 0;
  EXPECT_THROW(none.barrier(), mpi::Error);
  EXPECT_THROW(none.allreduce(value, result, MPI_SUM), mpi::Error);
  EXPECT_THROW(none.alltoall(value, result), mpi::Error);
}

TEST_P(CollectivesTest, ARankThatIsNotThereIsAnError) {
  tests::inTask([&] {
    std::error_code error;
    world().send(1, size, 0, error);
    EXPECT_EQ(mpi::Error(error.value(), "").errorClass(), MPI_ERR_RANK);
    int value = 0;
    world().recv(value, size, 0, error);
    EXPECT_EQ(mpi::Error(error.value(), "").errorClass(), MPI_ERR_RANK);
    EXPECT_THROW(world().send(1, size), mpi::Error);
    EXPECT_THROW((void)world().irecv(value, size), mpi::Error);
    EXPECT_THROW((void)world().probe(size), mpi::Error);
    EXPECT_THROW(world().bcast(value, size), mpi::Error);
  });
}

}  // namespace collectives_test
}  // namespace weft::mpi_test
