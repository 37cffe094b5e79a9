// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include <weft/io.h>
#include <weft/weft.h>

#include "io/io_pairs.h"
#include "with_scheduler.h"

// The examples of those pages of docs/howto that use weft::io.
namespace howto_io {
namespace {

// docs/howto/ctrl_c_io.md
void echo(weft::io::Socket socket, const std::stop_token& stop) {
  std::byte buffer[4096];
  std::error_code error;
  while (const size_t count = socket.recv(buffer, error, {.stop = stop})) {
    socket.send(std::span(buffer).first(count), error, {.stop = stop});
  }
}

void serveUntilInterrupted(weft::io::Listener& listener, weft::io::Signals& interrupts) {
  std::stop_source stop;
  const std::stop_token token = stop.get_token();
  weft::WaitGroup watched(1);
  weft::schedule([&, watched] {
    std::error_code error;
    interrupts.next(error, {.stop = token});
    stop.request_stop();
    watched.done();
  });
  weft::io::serve(listener, [&](weft::io::Socket socket) { echo(std::move(socket), token); },
                  {.stop = token});
  stop.request_stop();  // serve() may have ended by an error
  watched.wait();       // the task refers to what is about to be destroyed
}

void interruptAServer() {
  weft::io::Signals interrupts({SIGINT, SIGTERM});
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  weft::io::Listener listener = weft::io::Listener::listen(weft::io::Endpoint::parse("127.0.0.1", 0));
  weft::WaitGroup client(1);
  weft::schedule([&, client] {
    weft::io::Socket socket = weft::io::Socket::connect(listener.endpoint());
    socket.send(std::as_bytes(std::span("hello")));
    std::byte reply[6];
    socket.recvAll(reply);
    kill(getpid(), SIGINT);
    socket.recv(reply);  // the end of the connection
    client.done();
  });
  serveUntilInterrupted(listener, interrupts);
  client.wait();
}

using HowtoCtrlCIoTest = weft::tests::DeathTest;

TEST_F(HowtoCtrlCIoTest, EndsTheServerAndItsConnections) {
  EXPECT_EXIT(
      {
        interruptAServer();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

// docs/howto/line_reader.md
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  // Returns: the next line without its '\n'; nothing at the end of the input and after an error.
  std::optional<std::string> next(std::error_code& error, const weft::io::Wait& wait = {}) {
    error.clear();
    for (;;) {
      if (const size_t end = text_.find('\n', searched_); end != std::string::npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        searched_ = 0;
        return line;
      }
      searched_ = text_.size();
      if (text_.size() > kMaxLine) {
        error = std::make_error_code(std::errc::message_size);
        return std::nullopt;
      }
      std::byte piece[4096];
      const size_t count = weft::io::read(fd_, piece, error, wait);
      if (count == 0) {
        searched_ = error ? searched_ : 0;
        return error || text_.empty() ? std::nullopt : std::optional(std::exchange(text_, {}));
      }
      text_.append(reinterpret_cast<const char*>(piece), count);
    }
  }

 private:
  static constexpr size_t kMaxLine = 64 * 1024;

  const int fd_;
  std::string text_;     // what was read and not returned
  size_t searched_ = 0;  // how much of it has no '\n'
};

class HowtoLineReaderTest : public weft::tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(HowtoLineReaderTest);

TEST_P(HowtoLineReaderTest, GivesTheLinesOfAPipe) {
  weft::tests::Ends ends = weft::tests::makeEnds();
  LineReader lines(ends.reader.get());
  std::error_code error;
  const auto past = std::chrono::steady_clock::time_point::min();
  EXPECT_EQ(lines.next(error, {.deadline = past}), std::nullopt);
  EXPECT_EQ(error, std::errc::timed_out);
  weft::io::write(ends.writer.get(), weft::tests::bytesOf("one\n\ntw"));
  EXPECT_EQ(lines.next(error), "one");
  EXPECT_EQ(lines.next(error), "");
  EXPECT_EQ(lines.next(error, {.deadline = past}), std::nullopt);
  EXPECT_EQ(error, std::errc::timed_out);
  weft::io::write(ends.writer.get(), weft::tests::bytesOf("o\nrest"));
  EXPECT_EQ(lines.next(error), "two");
  ends.writer.reset();
  EXPECT_EQ(lines.next(error), "rest");
  EXPECT_EQ(lines.next(error), std::nullopt);
  EXPECT_FALSE(error);
}

// docs/howto/stop_server.md
using Request = std::byte[16];

void handle(weft::io::Socket socket, const std::stop_token& stop, const std::stop_token& abort) {
  std::error_code error;
  while (!error) {
    Request request;
    // Until a request has begun, a stop ends the wait.
    const size_t begun = socket.recv(request, error, {.stop = stop});
    if (begun == 0) {
      break;
    }
    // A request that has begun is answered after a stop too.
    const std::span rest = std::span(request).subspan(begun);
    if (socket.recvAll(rest, error, {.stop = abort}) == rest.size()) {
      socket.send(request, error, {.stop = abort});
    }
  }
}

// Returns some time after a stop: once all requests are answered, or `grace` later.
void serveUntil(weft::io::Listener& listener, const std::stop_token& stop, std::chrono::milliseconds grace) {
  std::stop_source abort;
  const weft::Event ended(weft::Event::Mode::Manual);
  weft::WaitGroup timer(1);
  weft::schedule([=]() mutable {
    weft::select(weft::onStop(stop), weft::onSignal(ended));
    if (!ended.wait_for(grace)) {
      abort.request_stop();
    }
    timer.done();
  });
  weft::io::serve(listener,
                  [&](weft::io::Socket socket) { handle(std::move(socket), stop, abort.get_token()); },
                  {.stop = stop});
  ended.signal();
  timer.wait();
}

class HowtoStopServerTest : public weft::tests::WithScheduler {
 protected:
  // Stops a server after its first reply, with or without half of a further request.
  size_t bytesOfReply(std::chrono::milliseconds grace, bool hasHalf) {
    weft::io::Listener listener = weft::io::Listener::listen(weft::io::Endpoint::parse("127.0.0.1", 0));
    std::stop_source stop;
    weft::WaitGroup client(1);
    size_t count = 0;
    weft::schedule([&, client] {
      weft::io::Socket socket = weft::io::Socket::connect(listener.endpoint());
      Request request = {}, reply = {};
      std::error_code error;
      socket.send(request, error);
      socket.recvAll(reply, error);  // the server has the connection
      if (hasHalf) {
        socket.send(std::span(request).first(8), error);
      }
      stop.request_stop();
      count = socket.recvAll(reply, error);
      client.done();
    });
    serveUntil(listener, stop.get_token(), grace);
    client.wait();
    return count;
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(HowtoStopServerTest);

TEST_P(HowtoStopServerTest, ARequestThatNeverEndsIsAborted) {
  EXPECT_EQ(bytesOfReply(std::chrono::milliseconds(1), true), 0u);
}

// It would take an hour otherwise.
TEST_P(HowtoStopServerTest, EndsAtOnceWhenNothingIsLeftToAnswer) {
  EXPECT_EQ(bytesOfReply(std::chrono::hours(1), false), 0u);
}

// docs/howto/signal_handlers.md
void logSignals(weft::io::Signals& signals, int& last) {
  const weft::io::SignalInfo signal = signals.next();
  last = signal.number;
}

TEST_F(HowtoCtrlCIoTest, ASignalIsRead) {
  EXPECT_EXIT(
      {
        weft::io::Signals signals({SIGINT, SIGTERM});
        weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
        weft::Scheduler::Binding bound(scheduler);
        int last = 0;
        kill(getpid(), SIGTERM);
        logSignals(signals, last);
        std::exit(last);
      },
      ::testing::ExitedWithCode(SIGTERM), "");
}

}  // namespace
}  // namespace howto_io
