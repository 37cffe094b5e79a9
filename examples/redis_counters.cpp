// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Counts in Redis by hiredis: redis_counters SERVER [FIBERS [COUNT [SECONDS]]]. SERVER is a port of this
// machine, or the path of a unix socket. Some fibers (8) have a connection each. They increment a counter of
// their own and one of all COUNT times (1,000) in a pipeline: all commands are sent without a wait for
// replies, which come in the order of the commands. All have to be done after some seconds (30).

#include <weft/io.h>
#include <weft/weft.h>

#include <hiredis.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

// A connection of one fiber. Its functions throw what is wrong.
class Connection {
 public:
  Connection(const std::string& server, const weft::io::Wait& wait)
      : context_(server.starts_with('/') ? redisConnectUnixNonBlock(server.c_str())
                                         : redisConnectNonBlock("127.0.0.1", std::atoi(server.c_str()))),
        wait_(wait) {
    check();
  }

  // Adds a command to those that the next receive() sends.
  void append(const char* command, const std::string& key) {
    redisAppendCommand(context_.get(), "%s %s", command, key.c_str());
    check();
  }

  // Returns: the number that is the reply to the oldest command without one.
  long long receive() {
    void* received = nullptr;
    while (redisGetReplyFromReader(context_.get(), &received) == REDIS_OK && received == nullptr) {
      int isSent = 0;
      redisBufferWrite(context_.get(), &isSent);  // what the socket has room for; none until it is connected
      check();
      weft::io::waitFor(context_->fd, isSent != 0 ? POLLIN : POLLIN | POLLOUT, wait_);
      redisBufferRead(context_.get());  // what there is, if anything
      check();
    }
    check();
    const std::unique_ptr<redisReply, decltype([](redisReply* reply) { freeReplyObject(reply); })> reply(
        static_cast<redisReply*>(received));
    if (reply->type != REDIS_REPLY_INTEGER) {
      throw std::runtime_error(reply->str != nullptr ? reply->str : "the reply is no number");
    }
    return reply->integer;
  }

 private:
  void check() const {
    if (context_ == nullptr || context_->err != 0) {
      throw std::runtime_error(context_ == nullptr ? "no memory" : context_->errstr);
    }
  }

  const std::unique_ptr<redisContext, decltype([](redisContext* context) { redisFree(context); })> context_;
  const weft::io::Wait wait_;
};

// Returns: how many replies were right.
int count(const std::string& server, const std::string& own, int number, const weft::io::Wait& wait) {
  Connection connection(server, wait);
  connection.append("DEL", own);
  for (int i = 0; i < number; ++i) {
    connection.append("INCR", own);
    connection.append("INCR", "all");
  }
  connection.receive();
  int numRight = 0;
  for (int i = 1; i <= number; ++i) {
    numRight += connection.receive() == i ? 1 : 0;
    numRight += connection.receive() >= i ? 1 : 0;
  }
  return numRight;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string server = argc > 1 ? argv[1] : "6379";
  const int numFibers = argc > 2 ? std::atoi(argv[2]) : 8;
  const int number = argc > 3 ? std::atoi(argv[3]) : 1000;
  const std::chrono::milliseconds limit(argc > 4 ? static_cast<int>(std::atof(argv[4]) * 1e3) : 30'000);
  const weft::io::Wait wait{.deadline = std::chrono::steady_clock::now() + limit};
  std::signal(SIGPIPE, SIG_IGN);  // hiredis writes as to a file
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  std::atomic<int> numRight{0}, numFailed{0};
  weft::TaskGroup fibers;
  for (int i = 0; i < numFibers; ++i) {
    fibers.run([&, i] {
      try {
        numRight += count(server, "counter" + std::to_string(i), number, wait);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "counter%d: %s\n", i, error.what());
        ++numFailed;
      }
    });
  }
  fibers.wait();
  const int numExpected = 2 * number * numFibers;
  std::printf("%d of %d replies are right\n", numRight.load(), numExpected);
  return numFailed == 0 && numRight == numExpected ? 0 : 1;
}
