// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <weft/waitgroup.h>

#include "mpi/ranks.h"

// Random messages and collectives of many fibers, against what the seed says that each rank gets. Other ones:
//
//   WEFT_MPI_SEED=7 mpiexec -n 4 mpi_tests --gtest_filter='*Storm*'
namespace weft::mpi_test {
namespace storm_test {

using mpi::Communicator;
using mpi::Request;
using Random = std::mt19937_64;

enum class Content : uint8_t { Ints, Bytes, Columns };
enum class Sending : uint8_t { Send, Isend, Persistent, Together };
enum class Receiving : uint8_t { Recv, AnySource, Probe, MatchedProbe, Limited, Persistent, Any, Together };

// A message that is sent `numTurns` times, each time with other values.
struct Planned {
  int from;
  int to;
  int tag;
  int numTurns;
  size_t count;  // of values
  Content content;
  Sending sending;
  Receiving receiving;
};

constexpr int kStream = 5;  // the tag of all messages of a stream

size_t below(Random& random, size_t end) { return static_cast<size_t>(random() % end); }

// Returns: how many values a message has: mostly few, 100 kB at most.
size_t drawCount(Random& random, Content content) {
  const size_t most = content == Content::Bytes ? 100'000 : 25'000;
  const size_t kind = below(random, 12);
  const size_t count = below(random, kind == 0 ? most + 1 : kind < 3 ? most / 20 : 40);
  return content == Content::Columns ? std::max<size_t>(count, 1) : count;
}

Planned draw(Random& random, int numRanks, int tag) {
  const auto content = static_cast<Content>(below(random, 3));
  return {.from = static_cast<int>(below(random, static_cast<size_t>(numRanks))),
          .to = static_cast<int>(below(random, static_cast<size_t>(numRanks))),
          .tag = tag,
          .numTurns = 1 + static_cast<int>(below(random, 3)),
          .count = drawCount(random, content),
          .content = content,
          .sending = static_cast<Sending>(below(random, 4)),
          .receiving = static_cast<Receiving>(below(random, 8))};
}

// What a message lies in: its values, those of Columns with two holes behind each, and some room at the end.
class Parcel {
 public:
  // What is around the values differs, so that it is seen if it comes along.
  enum class Side : uint8_t { Sender = 0x5A, Receiver = 0xA5 };

  Parcel(const Planned& planned, Side side)
      : planned_(planned),
        hole_(static_cast<uint8_t>(side)),
        memory_((planned.count * stride() + kRoom) * unit(), hole_) {
    if (planned.content == Content::Columns) {
      column_ = mpi::Datatype::vector(planned.count, 1, stride(), MPI_INT);
    }
  }

  // Writes the values of a turn.
  void fill(int turn) { write(memory_, turn); }
  // What must not be sent any more, or has not come yet.
  void spoil() { std::fill(memory_.begin(), memory_.end(), hole_); }
  // Returns: whether there are the values of a turn, and nothing else.
  bool has(int turn) const {
    std::vector<uint8_t> expected(memory_.size(), hole_);
    write(expected, turn);
    return memory_ == expected;
  }
  // Of what is sent; a receive has more room, where it can.
  mpi::Buffer values() { return buffer(0); }
  mpi::Buffer room() { return buffer(kRoom); }
  MPI_Datatype valueType() const { return planned_.content == Content::Bytes ? MPI_UNSIGNED_CHAR : MPI_INT; }

 private:
  static constexpr size_t kRoom = 3;

  size_t unit() const { return planned_.content == Content::Bytes ? 1 : sizeof(int); }
  size_t stride() const { return planned_.content == Content::Columns ? 3 : 1; }
  mpi::Buffer buffer(size_t more) {
    return column_ ? mpi::Buffer(memory_.data(), 1, column_.get())
                   : mpi::Buffer(memory_.data(), planned_.count + more, valueType());
  }
  void write(std::vector<uint8_t>& memory, int turn) const {
    std::minstd_rand bytes(static_cast<unsigned>(planned_.tag * 8 + turn + 1));
    for (size_t i = 0; i < planned_.count; ++i) {
      for (size_t b = 0; b < unit(); ++b) {
        memory[i * stride() * unit() + b] = static_cast<uint8_t>(bytes() >> 8);
      }
    }
  }

  const Planned& planned_;
  uint8_t hole_;
  std::vector<uint8_t> memory_;
  mpi::Datatype column_;
};

using Side = Parcel::Side;

class StormTest : public MpiTest {
 protected:
  void SetUp() override {
    MpiTest::SetUp();
    if (const char* const given = std::getenv("WEFT_MPI_SEED"); given != nullptr) {
      seed_ = std::strtoull(given, nullptr, 10);
    }
    // A seed may be given to the first rank alone.
    world().bcast(seed_);
  }

  // Returns: a generator that draws the same on all ranks, other than that for another `use`.
  Random randomFor(uint64_t use) const {
    return Random(seed_ * 1000 + use * 100 + static_cast<uint64_t>(numWorkers()));
  }
  // Returns: `number`, or less where many threads share few processors.
  int fewer(int number) const { return number / (numWorkers() == 64 ? 4 : 1) / (size > 4 ? 2 : 1); }

  // Calls each in a fiber, in a random order, and waits for all. Says what they have complained of.
  void run(std::vector<std::function<void()>>& jobs) {
    Random random = randomFor(90 + static_cast<uint64_t>(rank));
    std::shuffle(jobs.begin(), jobs.end(), random);
    WaitGroup done(static_cast<unsigned>(jobs.size()));
    for (const std::function<void()>& job : jobs) {
      schedule([&, done] {
        try {
          job();
        } catch (...) {
          std::fprintf(stderr, "rank %d, WEFT_MPI_SEED=%llu:\n", rank,
                       static_cast<unsigned long long>(seed_));
          throw;
        }
        done.done();
      });
    }
    done.wait();
    SCOPED_TRACE("WEFT_MPI_SEED=" + std::to_string(seed_));
    for (const std::string& complaint : complaints_) {
      ADD_FAILURE() << complaint;
    }
  }
  // Any fiber: a trace of GoogleTest's belongs to a thread, so that the test's thread says what is wrong.
  void expect(bool isRight, const char* what, int tag, int turn) {
    if (!isRight) {
      const std::lock_guard lock(mutex_);
      if (complaints_.size() < 20) {
        complaints_.push_back(std::string(what) + ", tag " + std::to_string(tag) + ", turn " +
                              std::to_string(turn));
      }
    }
  }

  // Adds the jobs of this rank for messages with a tag each.
  void addMessages(std::vector<std::function<void()>>& jobs, const std::vector<Planned>& all);
  // Sends the messages with one tag, or receives them: several receives are posted at a time, and waited for
  // in a random order.
  void sendStream(const std::vector<Planned>& stream);
  void receiveStream(const std::vector<Planned>& stream);
  // Does collective operations with others that have the number `fiber`.
  void collect(const Communicator& ranks, int fiber);

 private:
  using Group = std::vector<const Planned*>;
  static constexpr size_t kGroup = 6;

  struct Round {
    int fiber;
    int number;
    size_t count;
    int root;
  };

  void send(const Planned& message);
  void sendTogether(const Group& group);
  mpi::Status receiveOnce(const Planned& message, Parcel& parcel, Request& persistent);
  void receive(const Planned& message);
  void receiveAny(const Group& group);
  void receiveTogether(const Group& group);
  void expectReceived(const Planned& message, Parcel& parcel, int turn, const mpi::Status& status);

  // Returns: the values of a rank in a round; the sums of those of the ranks below `end`, place by place.
  static std::vector<int> valuesOf(const Round& round, int from);
  static std::vector<int> sumsOf(const Round& round, int end);
  void exchange(const Communicator& ranks, const Round& round);
  void reduce(const Communicator& ranks, const Round& round);
  void overlap(const Communicator& ranks, const Round& round);
  void expectEqual(const std::vector<int>& values, const std::vector<int>& expected, const char* what,
                   const Round& round) {
    expect(values == expected, what, round.fiber, round.number);
  }

  uint64_t seed_ = 1;
  std::mutex mutex_;
  std::vector<std::string> complaints_;
};
WEFT_INSTANTIATE_WITH_SCHEDULER(StormTest);

void StormTest::send(const Planned& message) {
  Parcel parcel(message, Side::Sender);
  Request persistent;
  if (message.sending == Sending::Persistent) {
    persistent = world().sendInit(parcel.values(), message.to, message.tag);
  }
  for (int turn = 0; turn < message.numTurns; ++turn) {
    parcel.fill(turn);
    if (message.sending == Sending::Send) {
      world().send(parcel.values(), message.to, message.tag);
    } else if (message.sending == Sending::Isend) {
      world().isend(parcel.values(), message.to, message.tag).wait();
    } else {
      persistent.start();
      persistent.wait();
    }
    parcel.spoil();
  }
}

// Returns: which of the group have a turn of this number.
std::vector<size_t> thoseOf(const std::vector<const Planned*>& group, int turn) {
  std::vector<size_t> found;
  for (size_t i = 0; i < group.size(); ++i) {
    if (turn < group[i]->numTurns) {
      found.push_back(i);
    }
  }
  return found;
}
std::vector<Parcel> parcelsOf(const std::vector<const Planned*>& group, Side side) {
  std::vector<Parcel> parcels;
  for (const Planned* const message : group) {
    parcels.emplace_back(*message, side);
  }
  return parcels;
}

void StormTest::sendTogether(const Group& group) {
  std::vector<Parcel> parcels = parcelsOf(group, Side::Sender);
  for (int turn = 0;; ++turn) {
    std::vector<Request> requests;
    for (const size_t i : thoseOf(group, turn)) {
      parcels[i].fill(turn);
      requests.push_back(world().isend(parcels[i].values(), group[i]->to, group[i]->tag));
    }
    if (requests.empty()) {
      return;
    }
    mpi::waitAll(requests);
    for (Parcel& parcel : parcels) {
      parcel.spoil();
    }
  }
}

void StormTest::expectReceived(const Planned& message, Parcel& parcel, int turn, const mpi::Status& status) {
  expect(status.source() == message.from, "another source", message.tag, turn);
  expect(status.tag() == message.tag, "another tag", message.tag, turn);
  expect(status.count(parcel.valueType()) == static_cast<int>(message.count), "another count", message.tag,
         turn);
  expect(parcel.has(turn), "other values", message.tag, turn);
  parcel.spoil();
}

mpi::Status StormTest::receiveOnce(const Planned& message, Parcel& parcel, Request& persistent) {
  const auto countOf = [&](const mpi::Status& status) {
    return static_cast<size_t>(status.count(parcel.valueType()));
  };
  switch (message.receiving) {
    case Receiving::AnySource:
      return world().recv(parcel.room(), Communicator::kAnySource, message.tag);
    case Receiving::Probe: {
      const mpi::Status seen = world().probe(message.from, message.tag);
      expect(countOf(seen) == message.count, "another count of a probe", message.tag, 0);
      return world().recv(parcel.values(), message.from, message.tag);
    }
    case Receiving::MatchedProbe: {
      mpi::Message taken = world().mprobe(message.from, message.tag);
      expect(countOf(taken.status()) == message.count, "another count of a message", message.tag, 0);
      return taken.recv(parcel.values());
    }
    case Receiving::Limited: {
      Request request = world().irecv(parcel.room(), message.from, message.tag);
      std::optional<mpi::Status> status;
      for (int i = 1; !status; ++i) {
        status = request.waitFor(std::chrono::microseconds(10 * i));
      }
      return *status;
    }
    case Receiving::Persistent:
      persistent.start();
      return persistent.wait();
    default:
      return world().recv(parcel.room(), message.from, message.tag);
  }
}

void StormTest::receive(const Planned& message) {
  Parcel parcel(message, Side::Receiver);
  Request persistent;
  if (message.receiving == Receiving::Persistent) {
    persistent = world().recvInit(parcel.room(), message.from, message.tag);
  }
  for (int turn = 0; turn < message.numTurns; ++turn) {
    const mpi::Status status = receiveOnce(message, parcel, persistent);
    expectReceived(message, parcel, turn, status);
  }
}

void StormTest::receiveAny(const Group& group) {
  std::vector<Parcel> parcels = parcelsOf(group, Side::Receiver);
  std::vector<int> turns(group.size(), 0);
  std::vector<Request> requests(group.size());
  const auto post = [&](size_t i) {
    requests[i] = world().irecv(parcels[i].room(), group[i]->from, group[i]->tag);
  };
  for (size_t i = 0; i < group.size(); ++i) {
    post(i);
  }
  while (const std::optional<mpi::Completed> done = mpi::waitAny(requests)) {
    const size_t i = done->index;
    expectReceived(*group[i], parcels[i], turns[i], done->status);
    if (++turns[i] < group[i]->numTurns) {
      post(i);
    }
  }
  for (size_t i = 0; i < group.size(); ++i) {
    expect(turns[i] == group[i]->numTurns, "nothing for waitAny()", group[i]->tag, turns[i]);
  }
}

void StormTest::receiveTogether(const Group& group) {
  std::vector<Parcel> parcels = parcelsOf(group, Side::Receiver);
  for (int turn = 0;; ++turn) {
    const std::vector<size_t> indices = thoseOf(group, turn);
    std::vector<Request> requests;
    for (const size_t i : indices) {
      requests.push_back(world().irecv(parcels[i].room(), group[i]->from, group[i]->tag));
    }
    if (requests.empty()) {
      return;
    }
    for (int i = 1; !mpi::waitAllFor(requests, std::chrono::microseconds(20 * i)); ++i) {
    }
    for (const size_t i : indices) {
      expect(parcels[i].has(turn), "other values of waitAllFor()", group[i]->tag, turn);
      parcels[i].spoil();
    }
  }
}

void StormTest::addMessages(std::vector<std::function<void()>>& jobs, const std::vector<Planned>& all) {
  Group sentTogether, receivedAny, receivedTogether;
  const auto addTo = [&](Group& group, const Planned* message, void (StormTest::*function)(const Group&)) {
    if (message != nullptr) {
      group.push_back(message);
    }
    if (!group.empty() && (message == nullptr || group.size() == kGroup)) {
      jobs.emplace_back([this, function, full = std::exchange(group, {})] { (this->*function)(full); });
    }
  };
  for (const Planned& message : all) {
    if (message.from == rank) {
      if (message.sending == Sending::Together) {
        addTo(sentTogether, &message, &StormTest::sendTogether);
      } else {
        jobs.emplace_back([this, &message] { send(message); });
      }
    }
    if (message.to == rank) {
      if (message.receiving == Receiving::Any) {
        addTo(receivedAny, &message, &StormTest::receiveAny);
      } else if (message.receiving == Receiving::Together) {
        addTo(receivedTogether, &message, &StormTest::receiveTogether);
      } else {
        jobs.emplace_back([this, &message] { receive(message); });
      }
    }
  }
  addTo(sentTogether, nullptr, &StormTest::sendTogether);
  addTo(receivedAny, nullptr, &StormTest::receiveAny);
  addTo(receivedTogether, nullptr, &StormTest::receiveTogether);
}

std::vector<Planned> drawMany(Random random, int number, int numRanks) {
  std::vector<Planned> all;
  for (int i = 0; i < number; ++i) {
    all.push_back(draw(random, numRanks, i + 1));
  }
  return all;
}

void StormTest::sendStream(const std::vector<Planned>& stream) {
  std::vector<Parcel> parcels;
  std::vector<Request> requests;
  for (const Planned& message : stream) {
    Parcel& parcel = parcels.emplace_back(message, Side::Sender);
    parcel.fill(0);
    if (message.sending == Sending::Send) {
      world().send(parcel.values(), message.to, kStream);
      parcel.spoil();
    } else {
      requests.push_back(world().isend(parcel.values(), message.to, kStream));
    }
  }
  mpi::waitAll(requests);
}

void StormTest::receiveStream(const std::vector<Planned>& stream) {
  std::vector<Parcel> parcels;
  std::vector<std::pair<size_t, Request>> posted;
  for (size_t i = 0; i < stream.size(); ++i) {
    Parcel& parcel = parcels.emplace_back(stream[i], Side::Receiver);
    if (stream[i].receiving == Receiving::MatchedProbe) {
      world().mprobe(stream[i].from, kStream).recv(parcel.values());
    } else if (stream[i].receiving == Receiving::Recv) {
      world().recv(parcel.room(), stream[i].from, kStream);
    } else {
      posted.emplace_back(i, world().irecv(parcel.room(), stream[i].from, kStream));
    }
  }
  Random order(stream.front().count);
  std::shuffle(posted.begin(), posted.end(), order);
  for (auto& [i, request] : posted) {
    const mpi::Status status = request.wait();
    expect(status.count(parcels[i].valueType()) == static_cast<int>(stream[i].count), "another count",
           stream[i].tag, 0);
  }
  for (size_t i = 0; i < stream.size(); ++i) {
    expect(parcels[i].has(0), "a message out of order", stream[i].tag, 0);
  }
}

std::vector<int> StormTest::valuesOf(const Round& round, int from) {
  std::vector<int> values(round.count);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = round.fiber * 100'000 + round.number * 1000 + from * 7 + static_cast<int>(i % 50);
  }
  return values;
}

std::vector<int> StormTest::sumsOf(const Round& round, int end) {
  std::vector<int> sums(round.count, 0);
  for (int r = 0; r < end; ++r) {
    const std::vector<int> values = valuesOf(round, r);
    std::transform(sums.begin(), sums.end(), values.begin(), sums.begin(), std::plus<>());
  }
  return sums;
}

void StormTest::exchange(const Communicator& ranks, const Round& round) {
  const std::vector<int> mine = valuesOf(round, rank);
  std::vector<int> parts, fromAll, received(mine.size() * static_cast<size_t>(size)), all = received;
  std::vector<int> each;
  for (int r = 0; r < size; ++r) {
    const std::vector<int> to = valuesOf(round, rank * size + r);
    const std::vector<int> from = valuesOf(round, r * size + rank);
    const std::vector<int> theirs = valuesOf(round, r);
    parts.insert(parts.end(), to.begin(), to.end());
    fromAll.insert(fromAll.end(), from.begin(), from.end());
    each.insert(each.end(), theirs.begin(), theirs.end());
  }
  ranks.alltoall(parts, received);
  expectEqual(received, fromAll, "alltoall()", round);
  ranks.allgather(mine, all);
  expectEqual(all, each, "allgather()", round);
}

void StormTest::reduce(const Communicator& ranks, const Round& round) {
  const std::vector<int> mine = valuesOf(round, rank);
  std::vector<int> sums(mine.size(), -1), scanned = sums, ofAll = sums;
  ranks.reduce(mine, sums, MPI_SUM, round.root);
  const std::vector<int> total = sumsOf(round, size);
  expectEqual(sums, rank == round.root ? total : std::vector<int>(mine.size(), -1), "reduce()", round);
  ranks.scan(mine, scanned, MPI_SUM);
  expectEqual(scanned, sumsOf(round, rank + 1), "scan()", round);
  ranks.allreduce(mine, ofAll, MPI_SUM);
  expectEqual(ofAll, total, "allreduce()", round);
}

void StormTest::overlap(const Communicator& ranks, const Round& round) {
  const std::vector<int> mine = valuesOf(round, rank);
  std::vector<int> sums(mine.size(), -1);
  std::vector<int> data = rank == round.root ? mine : sums;
  std::vector<Request> requests;
  requests.push_back(ranks.ibcast(data, round.root));
  requests.push_back(ranks.iallreduce(mine, sums, MPI_SUM));
  requests.push_back(ranks.ibarrier());
  if (round.number % 2 == 0) {
    mpi::waitAll(requests);
  } else {
    while (mpi::waitAny(requests)) {
    }
  }
  expectEqual(data, valuesOf(round, round.root), "ibcast()", round);
  expectEqual(sums, sumsOf(round, size), "iallreduce()", round);
}

void StormTest::collect(const Communicator& ranks, int fiber) {
  Random random = randomFor(10 + static_cast<uint64_t>(fiber));
  const int numRounds = std::max(2, fewer(8));
  for (int number = 0; number < numRounds; ++number) {
    const size_t count = drawCount(random, Content::Ints) / 4;
    const Round round{fiber, number, count, static_cast<int>(below(random, static_cast<size_t>(size)))};
    const size_t kind = below(random, 3);
    if (kind == 0) {
      exchange(ranks, round);
    } else if (kind == 1) {
      reduce(ranks, round);
    } else {
      overlap(ranks, round);
    }
  }
}

TEST_P(StormTest, EachMessageComesToItsReceiverAsItWasSent) {
  const std::vector<Planned> all = drawMany(randomFor(1), fewer(300), size);
  std::vector<std::function<void()>> jobs;
  addMessages(jobs, all);
  run(jobs);
}

// Each rank has a stream of messages to each, and to itself.
TEST_P(StormTest, MessagesWithOneTagComeInTheOrderInWhichTheyWereSent) {
  Random random = randomFor(2);
  const int length = std::max(4, fewer(60) / size);
  std::vector<std::vector<Planned>> streams(static_cast<size_t>(size * size));
  std::vector<std::function<void()>> jobs;
  for (int i = 0; i < size * size; ++i) {
    std::vector<Planned>& stream = streams[static_cast<size_t>(i)];
    // Their values alone tell these, and their sizes the others: small messages must not overtake large ones.
    const bool areAlike = below(random, 2) == 0;
    for (int m = 0; m < length; ++m) {
      stream.push_back(draw(random, size, i * length + m + 1));
      stream.back().from = i / size;
      stream.back().to = i % size;
      if (areAlike) {
        stream.back().content = stream.front().content;
        stream.back().count = stream.front().count;
      }
    }
    if (i / size == rank) {
      jobs.emplace_back([&] { sendStream(stream); });
    }
    if (i % size == rank) {
      jobs.emplace_back([&] { receiveStream(stream); });
    }
  }
  run(jobs);
}

TEST_P(StormTest, CollectivesOfManyFibersAndMessagesDoNotDisturbEachOther) {
  const std::vector<Planned> all = drawMany(randomFor(3), fewer(100), size);
  std::vector<Communicator> ranks;
  for (int i = 0; i < 5; ++i) {
    ranks.push_back(world().duplicate());
  }
  std::vector<std::function<void()>> jobs;
  addMessages(jobs, all);
  for (int i = 0; i < 5; ++i) {
    jobs.emplace_back([&, i] { collect(ranks[static_cast<size_t>(i)], i); });
  }
  run(jobs);
}

}  // namespace storm_test
}  // namespace weft::mpi_test
