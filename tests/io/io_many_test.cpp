// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <dirent.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>

#include "io/io_pairs.h"
#include "scheduler/worker/worker.h"
#include "waiting.h"
#include "with_scheduler.h"

// Very many connections.
namespace weft::inline v0_1::detail {

struct WorkerTestAccess {
  // Whether the caller is on a worker, which might hold the next task back.
  static bool mayHoldHere() {
    const Worker* const worker = Worker::current();
    return worker != nullptr && worker->throttle_.mayHold(worker->numBlocked_.get());
  }
};

}  // namespace weft::inline v0_1::detail

namespace weft::io_many_test {
namespace {

using tests::awaitThat;
using tests::bytesOf;

// Returns: how many descriptors the process may have.
int allowDescriptors(rlim_t wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit raised{wanted, std::max(wanted, limit.rlim_max)};
  if (limit.rlim_cur < wanted && ::setrlimit(RLIMIT_NOFILE, &raised) != 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 30));
}

// Sockets that are sent to a socket where nobody receives them: they stay open, and count for no limit of the
// process, until they are received or that socket is closed.
class Parked {
 public:
  static constexpr size_t kMost = 250;  // at once

  void add(std::vector<io::Socket>& sockets) {
    Message message(sockets.size());
    auto* place = reinterpret_cast<int*>(CMSG_DATA(CMSG_FIRSTHDR(&message.header)));
    for (const io::Socket& socket : sockets) {
      *place++ = socket.fd();
    }
    ASSERT_EQ(::sendmsg(ends_.writer.get(), &message.header, 0), 1);
    sockets.clear();
  }
  std::vector<io::Socket> take() {
    Message message(kMost);
    EXPECT_EQ(::recvmsg(ends_.reader.get(), &message.header, MSG_CMSG_CLOEXEC), 1);
    const cmsghdr& rights = *CMSG_FIRSTHDR(&message.header);
    const auto* place = reinterpret_cast<const int*>(CMSG_DATA(&rights));
    std::vector<io::Socket> sockets;
    for (size_t i = 0; i < (rights.cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
      sockets.emplace_back(io::UniqueFd(place[i]));
    }
    return sockets;
  }
  void closeAll() { ends_ = {}; }

 private:
  struct Message {
    explicit Message(size_t count) {
      header.msg_iov = &part;
      header.msg_iovlen = 1;
      header.msg_control = control;
      header.msg_controllen = CMSG_SPACE(count * sizeof(int));
      cmsghdr& rights = *CMSG_FIRSTHDR(&header);
      rights.cmsg_level = SOL_SOCKET;
      rights.cmsg_type = SCM_RIGHTS;
      rights.cmsg_len = CMSG_LEN(count * sizeof(int));
    }
    char byte = 'x';
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(kMost * sizeof(int))] = {};
    msghdr header{};
  };

  tests::Ends ends_ = tests::makeEnds();
};

// How often the system has switched to or from the threads of workers so far.
uint64_t numSwitchesOfWorkers() {
  uint64_t count = 0;
  DIR* const threads = ::opendir("/proc/self/task");
  while (const dirent* entry = ::readdir(threads)) {
    const std::string folder = std::string("/proc/self/task/") + entry->d_name;
    std::string name;
    std::getline(std::ifstream(folder + "/comm"), name);
    if (name.starts_with("weft:") && name != "weft:blocking") {
      std::ifstream status(folder + "/status");
      for (std::string line; std::getline(status, line);) {
        const size_t place = line.find("voluntary_ctxt_switches:");
        count += place != line.npos ? std::stoull(line.substr(line.find(':') + 1)) : 0;
      }
    }
  }
  ::closedir(threads);
  return count;
}

// A server whose connections send back what comes; where an `h` comes, whether the worker might hold tasks
// back: h if so, and f, for freely, if not.
class Server {
 public:
  explicit Server(Scheduler& scheduler) : scheduler_(scheduler) {
    schedule([this] {
      io::serve(listener_, [this](io::Socket socket) { answer(std::move(socket)); },
                {.stop = stop_.get_token()});
      done_.done();
    });
  }
  ~Server() {
    stop_.request_stop();
    done_.wait();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  io::Endpoint endpoint() const { return listener_.endpoint(); }
  // Returns once `count` connections are open and wait.
  void awaitOpen(int count) {
    awaitThat([&] { return numOpen == count && numWaiting() >= static_cast<uint64_t>(count); });
  }
  uint64_t mostOfAWorker() const {
    uint64_t most = 0;
    for (const auto& worker : scheduler_.stats().workers) {
      most = std::max(most, worker.numBlockedFibers);
    }
    return most;
  }

 private:
  uint64_t numWaiting() const {
    uint64_t count = 0;
    for (const auto& worker : scheduler_.stats().workers) {
      count += worker.numBlockedFibers;
    }
    return count;
  }

  void answer(io::Socket socket) {
    ++numOpen;
    std::byte byte[1];
    std::error_code error;
    while (socket.recv(byte, error) == 1) {
      if (byte[0] == std::byte{'h'} && !detail::WorkerTestAccess::mayHoldHere()) {
        byte[0] = std::byte{'f'};
      }
      socket.send(byte, error);
    }
    --numOpen;
  }

  Scheduler& scheduler_;
  io::Listener listener_ = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0), 4096);
  std::stop_source stop_;
  std::atomic<int> numOpen{0};
  WaitGroup done_{1};
};

// Each of those that are parked asks, and gets `reply`.
void expectFromAll(Parked& parked, int count, std::string_view question, std::byte reply) {
  for (int left = count; left > 0;) {
    std::vector<io::Socket> clients = parked.take();
    left -= static_cast<int>(clients.size());
    for (io::Socket& client : clients) {
      client.send(bytesOf(question));
    }
    for (io::Socket& client : clients) {
      std::byte byte[1];
      ASSERT_EQ(client.recvAll(byte), 1u);
      ASSERT_EQ(byte[0], reply);
    }
    parked.add(clients);
  }
}

TEST(IoManyTest, ManyConnectionsAreOpenedAtOnceAndStallAndAreClosedAtOnce) {
  constexpr int kClients = tests::scaled(10'000, 400);
  if (allowDescriptors(kClients + 1'000) < kClients + 1'000) {
    GTEST_SKIP() << "the process may not have " << kClients << " descriptors";
  }
  Scheduler scheduler(tests::smallConfig(2));
  const Scheduler::Binding bound(scheduler);
  Server server(scheduler);
  Parked parked;
  for (int i = 0; i < kClients;) {
    std::vector<io::Socket> clients;
    for (; i < kClients && clients.size() < Parked::kMost; ++i) {
      clients.push_back(io::Socket::connect(server.endpoint()));
    }
    parked.add(clients);
  }
  server.awaitOpen(kClients);
  EXPECT_GE(server.mostOfAWorker(), static_cast<uint64_t>(kClients) / 2);

  // Nobody wakes. (Workers give stacks back for a while after a burst.)
  for (uint64_t before = 0, now = numSwitchesOfWorkers(); now != before;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    before = std::exchange(now, numSwitchesOfWorkers());
  }

  // Tasks that block at once are held back beside a thousand of their kind. These are none.
  Event go(Event::Mode::Manual);
  WaitGroup blocked(8);
  for (int i = 0; i < 8; ++i) {
    schedule([go, blocked] {
      go.wait();
      blocked.done();
    });
  }
  awaitThat([&] { return tests::numWaiting(go) == 8; });
  expectFromAll(parked, kClients, "h", std::byte{'f'});
  go.signal();
  blocked.wait();

  parked.closeAll();
  server.awaitOpen(0);
}

}  // namespace
}  // namespace weft::io_many_test
