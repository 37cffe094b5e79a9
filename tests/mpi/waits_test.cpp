// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/waitgroup.h>

#include "crew.h"
#include "mpi/ranks.h"

// Waiting for requests: wait(), waitAll(), waitAny(), those with a limit, and the life of a Request.
namespace weft::mpi_test {
namespace waits_test {

using mpi::Request;
using tests::Kind;
using tests::kKinds;

constexpr int kTag = 11;
constexpr int kGo = 12;
constexpr auto kSoon = std::chrono::milliseconds(1);
constexpr auto kLong = std::chrono::hours(1);

bool isActive(const Request& request) { return request.isActive(); }
bool isActive(MPI_Request request) { return request != MPI_REQUEST_NULL; }

class WaitsTest : public MpiTest {
 protected:
  // Posts a receive. Of MPI's own requests on the thread that may call MPI.
  template <class R>
  R receive(mpi::Buffer room, int from, int tag = kTag) {
    if constexpr (std::is_same_v<R, Request>) {
      return world().irecv(room, from, tag);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      EXPECT_EQ(MPI_Irecv(room.data, room.count, room.type, from, tag, MPI_COMM_WORLD, &request),
                MPI_SUCCESS);
      return request;
    }
  }

  // Calls test(requestType) for both kinds of requests.
  template <class Test>
  static void withBothTypes(const Test& test) {
    test(std::type_identity<Request>());
    test(std::type_identity<MPI_Request>());
  }

  // Calls f() in a place of `kind`, while this thread serves MPI.
  void in(Kind kind, const std::function<void()>& f) {
    tests::Crew crew(scheduler());
    WaitGroup done(1);
    crew.start(kind, [&, done] {
      f();
      done.done();
    });
    done.wait();
  }

  // Sends `value` to the right, once the rank there asks for it.
  void sendWhenAsked(WaitGroup& done, int value, int tag = kTag) {
    done.add();
    schedule([this, done, value, tag] {
      int go = 0;
      world().recv(go, right, kGo);
      world().send(value, right, tag);
      done.done();
    });
  }
  void ask() { world().send(1, left, kGo); }

  // Sends `count` messages of two values to the right. (Before the receives: Open MPI does not tell a rank
  // that is sent too much by itself if it comes later.)
  std::vector<Request> sendTooMuch(int count, int tag = kTag) {
    static constexpr std::array<int, 2> kValues{1, 2};
    std::vector<Request> sent;
    for (int i = 0; i < count; ++i) {
      sent.push_back(world().isend(kValues, right, tag));
    }
    return sent;
  }

  // Returns once the operation is done, which stays to be waited for.
  static void awaitDone(MPI_Request request) {
    tests::awaitThat([&] {
      int isDone = 0;
      EXPECT_EQ(MPI_Request_get_status(request, &isDone, MPI_STATUS_IGNORE), MPI_SUCCESS);
      return isDone != 0;
    });
  }
  static MPI_Request native(const Request& request) { return request.get(); }
  static MPI_Request native(MPI_Request request) { return request; }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(WaitsTest);

void expectMessage(const mpi::Status& status, int source, int tag) {
  EXPECT_EQ(status.source(), source);
  EXPECT_EQ(status.tag(), tag);
  EXPECT_EQ(status.count<int>(), 1);
}

TEST_P(WaitsTest, AWaitReturnsAtOnceForWhatIsDone) {
  withBothTypes([&](auto type) {
    for (const Kind kind : kKinds) {
      int value = -1;
      auto request = receive<typename decltype(type)::type>(value, rank);
      world().send(7, rank, kTag);
      awaitDone(native(request));
      in(kind, [&] { expectMessage(mpi::wait(request), rank, kTag); });
      EXPECT_EQ(value, 7);
      EXPECT_FALSE(isActive(request));
    }
  });
}

TEST_P(WaitsTest, AWaitReturnsOnceTheMessageHasCome) {
  withBothTypes([&](auto type) {
    for (const Kind kind : kKinds) {
      WaitGroup sent;
      sendWhenAsked(sent, rank);
      int value = -1;
      auto request = receive<typename decltype(type)::type>(value, left);
      in(kind, [&] {
        EXPECT_FALSE(mpi::waitFor(request, kSoon));
        ask();
        expectMessage(mpi::wait(request), left, kTag);
      });
      EXPECT_EQ(value, left);
      EXPECT_FALSE(isActive(request));
      sent.wait();
    }
  });
}

TEST_P(WaitsTest, AResultWinsAgainstADeadlineThatIsOver) {
  withBothTypes([&](auto type) {
    using R = typename decltype(type)::type;
    std::stop_source stopped;
    stopped.request_stop();
    for (const Kind kind : kKinds) {
      for (const mpi::Limit& limit :
           {mpi::Limit(std::chrono::seconds(-1)), mpi::Limit(stopped.get_token())}) {
        std::array<int, 3> values{};
        std::array<R, 3> requests{receive<R>(values[0], rank), receive<R>(values[1], rank),
                                  receive<R>(values[2], rank)};
        for (int i = 1; i <= 3; ++i) {
          world().send(i, rank, kTag);
        }
        for (const R& request : requests) {
          awaitDone(native(request));
        }
        in(kind, [&] {
          EXPECT_TRUE(mpi::waitFor(requests[0], limit));
          const auto done = mpi::waitAnyFor(std::span(requests).subspan(1, 1), limit);
          ASSERT_TRUE(done);
          EXPECT_EQ(done->index, 0U);
          EXPECT_TRUE(mpi::waitAllFor(std::span(requests).subspan(2), limit));
        });
        EXPECT_EQ(values, (std::array{1, 2, 3}));
      }
    }
  });
}

// Each kind of wait ends without a result, and can be begun again.
template <class R>
void expectLimitEndsEachWait(std::array<R, 2>& requests, const std::function<mpi::Limit()>& limit) {
  EXPECT_FALSE(mpi::waitFor(requests[0], limit()));
  EXPECT_FALSE(mpi::waitAllFor(std::span(requests), limit()));
  EXPECT_FALSE(mpi::waitAnyFor(std::span(requests), limit()));
  EXPECT_TRUE(isActive(requests[0]));
  EXPECT_TRUE(isActive(requests[1]));
}

// The messages of this test and the next are the rank's own: another might be ahead, and send too early.
TEST_P(WaitsTest, ALimitEndsAWaitAndLeavesTheOperation) {
  withBothTypes([&](auto type) {
    using R = typename decltype(type)::type;
    for (const Kind kind : kKinds) {
      std::array<int, 2> values{-1, -1};
      std::array<R, 2> requests{receive<R>(values[0], rank), receive<R>(values[1], rank)};
      std::stop_source stopped;
      stopped.request_stop();
      in(kind, [&] {
        expectLimitEndsEachWait(requests, [] { return mpi::Limit(kSoon); });
        expectLimitEndsEachWait(requests, [] { return mpi::Limit(std::chrono::steady_clock::now()); });
        expectLimitEndsEachWait(requests, [&] { return mpi::Limit(stopped.get_token()); });
        world().send(4, rank, kTag);
        // The first that was posted gets the only message.
        const auto done = mpi::waitAnyFor(std::span(requests), kLong);
        ASSERT_TRUE(done);
        EXPECT_EQ(done->index, 0U);
        EXPECT_FALSE(mpi::waitAllFor(std::span(requests).subspan(1), kSoon));
        world().send(5, rank, kTag);
        EXPECT_TRUE(mpi::waitAllFor(std::span(requests).subspan(1), kLong));
      });
      EXPECT_EQ(values, (std::array{4, 5}));
    }
  });
}

TEST_P(WaitsTest, AStopEndsAWaitThatHasBegun) {
  for (const Kind kind : kKinds) {
    std::array<int, 2> values{-1, -1};
    std::vector<Request> requests(2);
    requests[0] = receive<Request>(values[0], rank);
    requests[1] = receive<Request>(values[1], rank);
    for (int which = 0; which < 3; ++which) {
      std::stop_source source;
      std::atomic<bool> hasBegun{false};
      WaitGroup stopped(1);
      schedule([&, stopped] {
        tests::awaitThat([&] { return hasBegun.load(); });
        source.request_stop();
        stopped.done();
      });
      in(kind, [&] {
        hasBegun = true;
        const mpi::Limit limit(kLong, source.get_token());
        EXPECT_FALSE(which == 0   ? mpi::waitFor(requests[0], limit).has_value()
                     : which == 1 ? mpi::waitAllFor(requests, limit)
                                  : mpi::waitAnyFor(requests, limit).has_value());
      });
      stopped.wait();
    }
    world().send(1, rank, kTag);
    world().send(2, rank, kTag);
    mpi::waitAll(requests);
    EXPECT_EQ(values, (std::array{1, 2}));
  }
}

TEST_P(WaitsTest, ATestAsksOnceAndDoesNotWait) {
  for (const Kind kind : kKinds) {
    int value = -1;
    Request request = receive<Request>(value, rank);
    in(kind, [&] {
      EXPECT_FALSE(request.test());
      EXPECT_TRUE(request.isActive());
      world().send(3, rank, kTag);
      std::optional<mpi::Status> status;
      tests::awaitThat([&] { return (status = request.test()).has_value(); });
      expectMessage(*status, rank, kTag);
    });
    EXPECT_EQ(value, 3);
    EXPECT_FALSE(request.isActive());
  }
}

// The message has two values, and there is room for one.
void expectTruncated(const mpi::Error& error, const std::string& function) {
  EXPECT_EQ(error.errorClass(), MPI_ERR_TRUNCATE);
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(error.code().value(), text.data(), &length);
  EXPECT_EQ(error.what(), function + ": " + text.data());
  EXPECT_EQ(&error.code().category(), &mpi::category());
  EXPECT_STREQ(error.code().category().name(), "mpi");
}
template <class F>
void expectTruncates(const std::string& function, const F& f) {
  try {
    f();
    ADD_FAILURE() << function << " has thrown nothing";
  } catch (const mpi::Error& error) {
    expectTruncated(error, function);
  }
}

TEST_P(WaitsTest, WhatMPIRefusesIsAnException) {
  withBothTypes([&](auto type) {
    using R = typename decltype(type)::type;
    for (const Kind kind : kKinds) {
      std::array<int, 3> values{-1, -1, -1};
      const std::vector<Request> sent = sendTooMuch(3);
      std::array<R, 3> requests{receive<R>(values[0], left), receive<R>(values[1], left),
                                receive<R>(values[2], left)};
      in(kind, [&] {
        expectTruncates("MPI_Wait", [&] { (void)mpi::wait(requests[0]); });
        expectTruncates("MPI_Waitany", [&] { (void)mpi::waitAny(std::span(requests).subspan(1, 1)); });
        expectTruncates("MPI_Waitall", [&] { mpi::waitAll(std::span(requests).subspan(2)); });
      });
      for (const R& request : requests) {
        EXPECT_FALSE(isActive(request));
      }
    }
  });
}

TEST_P(WaitsTest, WhatMPIRefusesIsAnErrorCode) {
  withBothTypes([&](auto type) {
    using R = typename decltype(type)::type;
    for (const Kind kind : kKinds) {
      std::array<int, 3> values{-1, -1, -1};
      const std::vector<Request> sent = sendTooMuch(3);
      std::array<R, 3> requests{receive<R>(values[0], left), receive<R>(values[1], left),
                                receive<R>(values[2], left)};
      in(kind, [&] {
        std::error_code error;
        (void)mpi::wait(requests[0], error);
        expectTruncated(mpi::Error(error.value(), "one"), "one");
        error.clear();
        (void)mpi::waitAny(std::span(requests).subspan(1, 1), error);
        expectTruncated(mpi::Error(error.value(), "any"), "any");
        error.clear();
        mpi::waitAll(std::span(requests).subspan(2), error);
        expectTruncated(mpi::Error(error.value(), "all"), "all");
        EXPECT_EQ(error.category(), mpi::category());
      });
      for (const R& request : requests) {
        EXPECT_FALSE(isActive(request));
      }
    }
  });
}

TEST_P(WaitsTest, SuccessClearsTheErrorCode) {
  for (const Kind kind : kKinds) {
    std::array<int, 3> values{};
    std::vector<Request> requests(3);
    for (size_t i = 0; i < 3; ++i) {
      requests[i] = receive<Request>(values[i], left);
    }
    in(kind, [&] {
      const std::error_code old(MPI_ERR_TRUNCATE, mpi::category());
      std::error_code error = old;
      for (int i = 0; i < 3; ++i) {
        world().send(i, right, kTag, error);
        EXPECT_FALSE(std::exchange(error, old));
      }
      (void)requests[0].wait(error);
      EXPECT_FALSE(std::exchange(error, old));
      (void)mpi::waitAny(std::span(requests).subspan(1, 1), error);
      EXPECT_FALSE(std::exchange(error, old));
      mpi::waitAll(std::span(requests).subspan(2), error);
      EXPECT_FALSE(error);
    });
    EXPECT_EQ(values, (std::array{0, 1, 2}));
  }
}

// MPICH tells of the failed one early, and Open MPI when all are done.
TEST_P(WaitsTest, AWaitForAllEndsWhenAllAreDoneThoughOneHasFailed) {
  withBothTypes([&](auto type) {
    using R = typename decltype(type)::type;
    WaitGroup sent;
    sendWhenAsked(sent, 9, 2);
    std::array<int, 3> values{-1, -1, -1};
    const std::vector<Request> tooMuch = sendTooMuch(1, 1);
    std::array<R, 3> requests{receive<R>(values[0], left, 0), receive<R>(values[1], left, 1),
                              receive<R>(values[2], left, 2)};
    in(Kind::Task, [&] {
      world().send(7, right, 0);
      ask();
      std::error_code error;
      mpi::waitAll(std::span(requests), error);
      EXPECT_EQ(mpi::Error(error.value(), "").errorClass(), MPI_ERR_TRUNCATE);
    });
    EXPECT_EQ(values[0], 7);
    EXPECT_EQ(values[2], 9);
    for (const R& request : requests) {
      EXPECT_FALSE(isActive(request));
    }
    sent.wait();
  });
}

TEST_P(WaitsTest, EachStatusOfAWaitForAllTellsOfItsOperationThoughOneHasFailed) {
  WaitGroup sent;
  sendWhenAsked(sent, 9, 2);
  std::array<int, 3> values{-1, -1, -1};
  const std::vector<Request> tooMuch = sendTooMuch(1, 1);
  std::array<MPI_Request, 3> requests{receive<MPI_Request>(values[0], left, 0),
                                      receive<MPI_Request>(values[1], left, 1),
                                      receive<MPI_Request>(values[2], left, 2)};
  std::array<MPI_Status, 3> statuses{};
  std::error_code error;
  in(Kind::Task, [&] {
    world().send(7, right, 0);
    ask();
    mpi::waitAll(requests, error, statuses);
  });
  sent.wait();
  EXPECT_TRUE(error);
  EXPECT_EQ(error.value(), statuses[1].MPI_ERROR);
  for (const int i : {0, 2}) {
    EXPECT_EQ(statuses[static_cast<size_t>(i)].MPI_ERROR, MPI_SUCCESS);
    expectMessage(mpi::Status(statuses[static_cast<size_t>(i)]), left, i);
  }
}

// MPICH tells of the failed one at once: then the wait throws at its limit. Open MPI does when all are done.
TEST_P(WaitsTest, AnOperationThatHasFailedAtTheLimitOfAWaitForAllIsOver) {
  std::array<int, 2> values{-1, -1};
  const std::vector<Request> tooMuch = sendTooMuch(1, 1);
  std::array<Request, 2> requests{receive<Request>(values[0], left, 1), receive<Request>(values[1], rank, 2)};
  tests::awaitThat([&] {
    int isDone = 0;
    MPI_Request_get_status(requests[0].get(), &isDone, MPI_STATUS_IGNORE);
    return isDone != 0;
  });
  in(Kind::Task, [&] {
    bool hasThrown = false;
    try {
      EXPECT_FALSE(mpi::waitAllFor(requests, kSoon));
    } catch (const mpi::Error& error) {
      hasThrown = true;
      expectTruncated(error, "MPI_Waitall");
    }
    EXPECT_EQ(requests[0].isActive(), !hasThrown);
    EXPECT_TRUE(requests[1].isActive());
    world().send(5, rank, 2);
    expectMessage(requests[1].wait(), rank, 2);
  });
  EXPECT_EQ(values[1], 5);
}

TEST_P(WaitsTest, ARawWaitForAllGivesEachStatus) {
  constexpr int kMany = 40;
  std::vector<int> values(kMany, -1);
  std::vector<MPI_Request> requests;
  for (int i = 0; i < kMany; ++i) {
    requests.push_back(receive<MPI_Request>(values[static_cast<size_t>(i)], left, i));
  }
  std::vector<MPI_Status> statuses(kMany);
  in(Kind::Task, [&] {
    for (int i = kMany; i-- > 0;) {
      world().send(i * i, right, i);
    }
    mpi::waitAll(requests, statuses);
  });
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(values[static_cast<size_t>(i)], i * i);
    expectMessage(mpi::Status(statuses[static_cast<size_t>(i)]), left, i);
    EXPECT_EQ(requests[static_cast<size_t>(i)], MPI_REQUEST_NULL);
  }
}

TEST_P(WaitsTest, AWaitForAnyGivesEachOnce) {
  constexpr int kMany = 40;
  withBothTypes([&](auto type) {
    using R = typename decltype(type)::type;
    std::vector<int> values(kMany, -1);
    std::vector<R> requests(kMany);
    for (int i = 0; i < kMany; ++i) {
      requests[static_cast<size_t>(i)] = receive<R>(values[static_cast<size_t>(i)], left, i);
    }
    std::vector<int> numbers(kMany);
    std::iota(numbers.begin(), numbers.end(), 1);
    std::vector<size_t> order;
    in(Kind::Task, [&] {
      std::vector<Request> sent;
      for (int i = 0; i < kMany; ++i) {
        sent.push_back(world().isend(numbers[static_cast<size_t>(i)], right, i));
      }
      while (const auto done = mpi::waitAny(requests)) {
        order.push_back(done->index);
        expectMessage(done->status, left, static_cast<int>(done->index));
        EXPECT_EQ(values[done->index], static_cast<int>(done->index) + 1);
        EXPECT_FALSE(isActive(requests[done->index]));
      }
      mpi::waitAll(sent);
    });
    std::sort(order.begin(), order.end());
    std::vector<size_t> all(kMany);
    std::iota(all.begin(), all.end(), size_t{0});
    EXPECT_EQ(order, all);
  });
}

TEST_P(WaitsTest, AWaitForAnyPassesOverWhatIsNotUnderWay) {
  withBothTypes([&](auto type) {
    using R = typename decltype(type)::type;
    for (const Kind kind : kKinds) {
      int value = -1;
      std::vector<R> requests(3);
      if constexpr (std::is_same_v<R, MPI_Request>) {
        std::fill(requests.begin(), requests.end(), MPI_REQUEST_NULL);
      }
      in(kind, [&] {
        EXPECT_FALSE(mpi::waitAny(requests));
        EXPECT_FALSE(mpi::waitAny(std::span<R>()));
        EXPECT_FALSE(mpi::waitAnyFor(requests, kLong));
        mpi::waitAll(std::span<R>());
      });
      requests[1] = receive<R>(value, left);
      in(kind, [&] {
        world().send(4, right, kTag);
        const auto done = mpi::waitAny(requests);
        ASSERT_TRUE(done);
        EXPECT_EQ(done->index, 1U);
      });
      EXPECT_EQ(value, 4);
    }
  });
}

TEST_P(WaitsTest, APersistentRequestRunsRoundAfterRound) {
  for (const Kind kind : kKinds) {
    int sent = 0;
    int received = -1;
    std::vector<Request> requests(2);
    in(kind, [&] {
      requests[0] = world().sendInit(sent, right, kTag);
      requests[1] = world().recvInit(received, left, kTag);
      for (int round = 1; round <= 6; ++round) {
        EXPECT_FALSE(mpi::waitAny(requests));
        sent = round * 100 + rank;
        requests[0].start();
        requests[1].start();
        EXPECT_TRUE(requests[0].isActive());
        if (round % 3 == 0) {
          mpi::waitAll(requests);
        } else if (round % 3 == 1) {
          requests[0].wait();
          expectMessage(requests[1].wait(), left, kTag);
        } else {
          size_t sum = 0;
          while (const auto done = mpi::waitAny(requests)) {
            sum += done->index + 1;
          }
          EXPECT_EQ(sum, 3U);
        }
        EXPECT_EQ(received, round * 100 + left);
        EXPECT_FALSE(requests[0].isActive());
        EXPECT_NE(requests[0].get(), MPI_REQUEST_NULL);
      }
    });
    // The destructor cancels what is under way.
    requests[1].start();
    requests.clear();
    world().barrier();
  }
}

TEST_P(WaitsTest, ARawPersistentRequestRunsRoundAfterRound) {
  int sent = 0;
  int received = -1;
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Send_init(&sent, 1, MPI_INT, right, kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&received, 1, MPI_INT, left, kTag, MPI_COMM_WORLD, &requests[1]);
  for (int round = 1; round <= 4; ++round) {
    sent = round * 100 + rank;
    MPI_Startall(2, requests.data());
    in(Kind::Task, [&] {
      if (round % 2 == 0) {
        mpi::waitAll(requests);
      } else {
        (void)mpi::wait(requests[0]);
        expectMessage(mpi::wait(requests[1]), left, kTag);
        // As MPI_Wait(3): one that is not under way is done.
        (void)mpi::wait(requests[1]);
      }
      EXPECT_FALSE(mpi::waitAny(requests));
    });
    EXPECT_EQ(received, round * 100 + left);
    EXPECT_NE(requests[1], MPI_REQUEST_NULL);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

TEST_P(WaitsTest, ACanceledReceiveEndsWithoutAMessage) {
  for (const Kind kind : kKinds) {
    int value = -1;
    in(kind, [&] {
      Request request = world().irecv(value, rank, kTag);
      request.cancel();
      EXPECT_TRUE(request.isActive());
      EXPECT_TRUE(request.wait().isCancelled());
      Request next = world().irecv(value, rank, kTag);
      world().send(6, rank, kTag);
      EXPECT_FALSE(next.wait().isCancelled());
    });
    EXPECT_EQ(value, 6);
  }
}

TEST_P(WaitsTest, ADestroyedReceiveTakesNoMessage) {
  for (const Kind kind : kKinds) {
    int lost = -1;
    int value = -1;
    in(kind, [&] {
      {
        const Request request = world().irecv(lost, rank, kTag);
      }
      Request replaced = world().irecv(lost, rank, kTag);
      replaced = world().irecv(value, rank, kTag);
      world().send(8, rank, kTag);
      replaced.wait();
    });
    EXPECT_EQ(value, 8);
    EXPECT_EQ(lost, -1);
  }
}

TEST_P(WaitsTest, ADestroyedSendWaitsForItsEnd) {
  constexpr size_t kLarge = 100'000;  // values: more than MPI keeps of a message that nobody receives yet
  for (const Kind kind : kKinds) {
    std::vector<int> data(kLarge, rank + 1);
    std::vector<int> received(kLarge, -1);
    WaitGroup done(1);
    schedule([&, done] {
      int go = 0;
      world().recv(go, right, kGo);
      {
        const Request request = world().isend(data, right, kTag);
      }
      std::fill(data.begin(), data.end(), -2);
      done.done();
    });
    in(kind, [&] {
      ask();
      world().recv(received, left, kTag);
    });
    done.wait();
    EXPECT_EQ(received, std::vector<int>(kLarge, left + 1));
  }
}

TEST_P(WaitsTest, AMoveTakesTheOperationAlong) {
  int value = -1;
  Request first = receive<Request>(value, left);
  Request second(std::move(first));
  EXPECT_FALSE(first.isActive());
  EXPECT_TRUE(second.isActive());
  first = std::move(second);
  EXPECT_FALSE(second.isActive());
  EXPECT_EQ(second.get(), MPI_REQUEST_NULL);
  Request& itself = first;
  first = std::move(itself);
  EXPECT_TRUE(first.isActive());
  world().send(2, right, kTag);
  mpi::wait(std::move(first));
  EXPECT_EQ(value, 2);

  Request persistent = world().recvInit(value, left, kTag);
  Request moved(std::move(persistent));
  moved.start();
  world().send(3, right, kTag);
  moved.wait();
  EXPECT_EQ(value, 3);
  EXPECT_FALSE(moved.isActive());
}

TEST_P(WaitsTest, ManyFibersWaitForAMessageEach) {
  const int many = std::max(100, 1000 / size / (numWorkers() == 64 ? 4 : 1));
  std::vector<int> values(static_cast<size_t>(many), -1);
  WaitGroup done(static_cast<unsigned>(many));
  for (int i = 0; i < many; ++i) {
    schedule([&, i, done] {
      expectMessage(world().recv(values[static_cast<size_t>(i)], left, i), left, i);
      done.done();
    });
  }
  in(Kind::Task, [&] {
    for (int i = many; i-- > 0;) {
      world().send(i, right, i);
    }
  });
  done.wait();
  for (int i = 0; i < many; ++i) {
    EXPECT_EQ(values[static_cast<size_t>(i)], i);
  }
}

}  // namespace waits_test
}  // namespace weft::mpi_test
