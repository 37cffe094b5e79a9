// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <weft/mpi.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>

#include "mpi/engine.h"
#include "with_scheduler.h"

// Misuse of weft::mpi ends the program with a message. A program of its own, a single rank without mpiexec:
// it does not initialise MPI, which each process of a death test does.
namespace weft::mpi_test {
namespace mpi_misuse_test {

using mpi::Request;

class MpiMisuseTest : public tests::DeathTest {};

// Calls f() with a scheduler of one thread, and MPI.
void withMpi(const std::function<void()>& f, mpi::ThreadLevel level = mpi::ThreadLevel::Multiple) {
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(0));
  const Scheduler::Binding bound(scheduler);
  const mpi::Environment environment(level);
  f();
}

TEST_F(MpiMisuseTest, NothingWorksWithoutAnEnvironment) {
  EXPECT_DEATH((void)mpi::world(), "mpi::world\\(\\) was called without an mpi::Environment. Make one");
  EXPECT_DEATH(withMpi([] {}); (void)mpi::world(), "mpi::world\\(\\) was called after MPI_Finalize\\(\\)");
}

TEST_F(MpiMisuseTest, AnEnvironmentNeedsASchedulerAndIsTheOnlyOne) {
  EXPECT_DEATH(mpi::Environment(), "made on a thread without a scheduler. Bind one before");
  EXPECT_DEATH(withMpi([] { const mpi::Environment second; }), "there is an mpi::Environment already");
  EXPECT_DEATH(
      {
        withMpi([] {});
        withMpi([] {});
      },
      "made after MPI_Finalize\\(\\). MPI does not begin anew");
}

TEST_F(MpiMisuseTest, AnEnvironmentNeedsMoreThanOneThread) {
  EXPECT_DEATH(
      {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
        withMpi([] {});
      },
      "MPI was initialised for one thread only \\(MPI_THREAD_SINGLE\\)");
}

TEST_F(MpiMisuseTest, AnEnvironmentOfLevelFunneledIsMadeWhereMPIWasInitialised) {
  EXPECT_DEATH(
      {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        std::thread([] { withMpi([] {}, mpi::ThreadLevel::Funneled); }).join();
      },
      "level Funneled was made on another thread");
}

TEST_F(MpiMisuseTest, ARequestIsWaitedForOnce) {
  EXPECT_DEATH(withMpi([] {
                 int value = 0;
                 Request request = mpi::self().irecv(value);
                 mpi::self().send(1, 0);
                 request.wait();
                 request.wait();
               }),
               "the request has no operation under way: it was waited for before");
  EXPECT_DEATH(withMpi([] {
                 MPI_Request none = MPI_REQUEST_NULL;
                 (void)mpi::wait(none);
               }),
               "the request is MPI_REQUEST_NULL: it was waited for before, or never started");
  EXPECT_DEATH(withMpi([] { Request().cancel(); }), "cancel\\(\\): the request has no operation under way");
}

TEST_F(MpiMisuseTest, OneFiberWaitsForARequest) {
  EXPECT_DEATH(withMpi([] {
                 int value = 0;
                 Request request = mpi::self().irecv(value);
                 schedule([&] { request.wait(); });
                 while (request.isActive()) {
                   yield();
                   (void)request.test();
                 }
               }),
               "another fiber waits for this request. One may");
  EXPECT_DEATH(withMpi([] {
                 int value = 0;
                 Request request = mpi::self().irecv(value);
                 schedule([&] { request.wait(); });
                 yield();
                 const Request moved(std::move(request));
               }),
               "an mpi::Request was moved while a fiber waits for it");
}

TEST_F(MpiMisuseTest, AStartIsForAPersistentRequestThatIsNotUnderWay) {
  EXPECT_DEATH(withMpi([] {
                 int value = 0;
                 Request request = mpi::self().irecv(value);
                 request.start();
               }),
               "start\\(\\): the request is not persistent. sendInit\\(\\) and recvInit\\(\\) make some");
  EXPECT_DEATH(withMpi([] {
                 int value = 0;
                 Request request = mpi::self().recvInit(value);
                 request.start();
                 request.start();
               }),
               "start\\(\\): the operation is under way. Wait for it before");
}

TEST_F(MpiMisuseTest, SizesFit) {
  EXPECT_DEATH(withMpi([] {
                 std::array<int, 2> two{};
                 std::array<int, 3> three{};
                 mpi::self().allreduce(two, three, MPI_SUM);
               }),
               "allreduce\\(\\): 2 values, and room for 3");
  EXPECT_DEATH(withMpi([] {
                 std::array<int, 2> two{};
                 std::array<int, 3> three{};
                 mpi::self().allgather(two, three);
               }),
               "allgather\\(\\): 2 values of each of 1 ranks, and 3 of all");
  EXPECT_DEATH(withMpi([] {
                 std::array<int, 2> two{};
                 std::array<int, 3> three{};
                 mpi::self().allgatherv(two, three, std::array{1, 2});
               }),
               "allgatherv\\(\\): 2 counts for 1 ranks");
  EXPECT_DEATH(withMpi([] {
                 std::array<int, 2> two{};
                 std::array<int, 3> three{};
                 mpi::self().allgatherv(two, three, std::array{2});
               }),
               "allgatherv\\(\\): the counts sum up to 2, and there are 3 values");
  EXPECT_DEATH(withMpi([] {
                 std::array<MPI_Request, 1> requests{MPI_REQUEST_NULL};
                 std::array<MPI_Status, 2> statuses{};
                 mpi::waitAll(requests, statuses);
               }),
               "waitAll\\(\\): there are 2 statuses for 1 requests");
  EXPECT_DEATH((void)mpi::ConstBuffer(nullptr, size_t{INT_MAX} + 1, MPI_BYTE),
               "2147483648 values, or bytes, are more than MPI moves at once");
}

TEST_F(MpiMisuseTest, AMessageIsReceivedOnce) {
  EXPECT_DEATH(withMpi([] {
                 int value = 1;
                 const Request sent = mpi::self().isend(value, 0);
                 const mpi::Message message = mpi::self().mprobe();
               }),
               "an mpi::Message was destroyed that nobody has received");
  EXPECT_DEATH(withMpi([] {
                 int value = 1;
                 int room = 0;
                 const Request sent = mpi::self().isend(value, 0);
                 mpi::Message message = mpi::self().mprobe();
                 message.recv(room);
                 message.recv(room);
               }),
               "recv\\(\\): the message was received before");
}

TEST_F(MpiMisuseTest, NobodyWaitsWhenTheEnvironmentEnds) {
  EXPECT_DEATH(
      withMpi([] {
        schedule([] {
          int value = 0;
          mpi::self().recv(value);
        });
        yield();
      }),
      "the mpi::Environment was destroyed while 1 fibers or threads wait for MPI. Let them end before");
}

TEST_F(MpiMisuseTest, NoThreadWaitsWhenTheEnvironmentEnds) {
  for (const mpi::ThreadLevel level : {mpi::ThreadLevel::Multiple, mpi::ThreadLevel::Funneled}) {
    EXPECT_DEATH(withMpi(
                     [] {
                       Event isThere;
                       std::thread([isThere] {
                         int value = 0;
                         int got = 0;
                         mpi::self().sendrecv(value, 0, got, 0, 1, 1);
                         isThere.signal();
                         mpi::self().recv(value);
                       }).detach();
                       isThere.wait();
                       while (detail::MpiEngine::current("test").numWaiting() == 0) {
                         yield();
                       }
                     },
                     level),
                 "while 1 fibers or threads wait for MPI. Let them end before");
  }
}

TEST_F(MpiMisuseTest, AnEnvironmentOfLevelFunneledEndsOnItsThread) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(0));
        const Scheduler::Binding bound(scheduler);
        auto environment = std::make_unique<mpi::Environment>(mpi::ThreadLevel::Funneled);
        std::thread([&] { environment.reset(); }).join();
      },
      "was destroyed on another thread than the one that calls MPI");
}

// No misuse, but in a process of its own too.
TEST_F(MpiMisuseTest, AnErrorMayOutliveMPI) {
  EXPECT_EXIT(
      {
        std::error_code code;
        withMpi([&] {
          int value = 0;
          mpi::self().recv(value, 99, 0, code);
        });
        const mpi::Error error(code.value(), "late");
        const bool isTold = error.what() == "late: MPI error " + std::to_string(code.value()) &&
                            error.errorClass() == MPI_ERR_UNKNOWN;
        std::exit(code && isTold ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::exit(mpi::category().message(MPI_ERR_TRUNCATE).empty() ? 1 : 0),
              testing::ExitedWithCode(0), "");
}

TEST_F(MpiMisuseTest, TheSchedulerOutlivesTheEnvironment) {
  EXPECT_DEATH(
      {
        std::optional<Scheduler> scheduler(std::in_place, Scheduler::Config().setWorkerThreadCount(0));
        scheduler->bind();
        const mpi::Environment environment;
        Scheduler::unbind();
        scheduler.reset();
      },
      "a scheduler was destroyed before its poll source \"MPI\"");
}

}  // namespace mpi_misuse_test
}  // namespace weft::mpi_test
