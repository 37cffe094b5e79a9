// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <thread>

#include <weft/io.h>
#include <weft/weft.h>

#include "io/io_pairs.h"
#include "temporary_folder.h"
#include "with_scheduler.h"

// The examples of docs/io.md and of the headers' comments, word for word: docs_examples_test compares.
namespace {

// docs/scheduler.md
constinit int hangUps = -1;

void awaitHangUp() {
  hangUps = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  struct sigaction action = {};
  action.sa_handler = [](int) {
    const int error = errno;
    const uint64_t one = 1;
    if (write(hangUps, &one, sizeof one) < 0) {
      // it holds 2^64 - 2 already, and is ready in any case
    }
    errno = error;
  };
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGHUP, &action, nullptr);

  weft::WaitGroup reloaded(1);
  weft::schedule([=] {
    uint64_t count = 0;
    weft::io::read(hangUps, std::as_writable_bytes(std::span(&count, 1)));
    reloaded.done();
  });
  raise(SIGHUP);
  reloaded.wait();
  close(hangUps);
}

}  // namespace

namespace weft {
namespace {

class IoExamplesTest : public tests::WithScheduler {};

TEST_P(IoExamplesTest, ADescriptorIsRead) {
  tests::Ends ends = tests::makeEnds();
  io::write(ends.writer.get(), tests::bytesOf("hello"));
  const int fd = ends.reader.get();
  const auto now = std::chrono::steady_clock::now();
  // clang-format off
  std::byte buffer[4096];
  const size_t count = weft::io::read(fd, buffer, {.deadline = now + std::chrono::seconds(5)});
  // clang-format on
  EXPECT_EQ(count, 5u);
}

TEST_P(IoExamplesTest, ASelectWaitsForADescriptorToo) {
  const tests::Ends ends = tests::makeEnds();
  const int fd = ends.reader.get();
  const Channel<int> orders;
  std::byte buffer[16];
  size_t count = 0;
  bool isOver = false;
  const auto selectOnce = [&] {
    // clang-format off
    weft::select(weft::io::onReadable(fd, [&] { count = weft::io::read(fd, buffer); }),
                 weft::onReceive(orders, [&](std::optional<int> order) { isOver = !order; }),
                 weft::onTimeout(std::chrono::seconds(5), [] { std::puts("idle"); }));
    // clang-format on
  };
  io::write(ends.writer.get(), tests::bytesOf("hello"));
  selectOnce();
  EXPECT_EQ(count, 5u);
  orders.close();
  selectOnce();
  EXPECT_TRUE(isOver);
}

TEST_P(IoExamplesTest, AnEndpointIsParsed) {
  weft::io::Endpoint server = weft::io::Endpoint::parse("127.0.0.1", 8080);
  EXPECT_EQ(server.port(), 8080);
}

TEST_P(IoExamplesTest, AServerSendsBackWhatComes) {
  const io::Endpoint nowhere = io::Endpoint::parse("127.0.0.1", 0);
  io::Endpoint endpoint;
  std::stop_source stop;
  Event isListening;
  WaitGroup done(1);
  schedule([&, isListening, done] {
    const io::Endpoint& address = nowhere;
    weft::io::Listener listener = weft::io::Listener::listen(address);
    endpoint = listener.endpoint();
    isListening.signal();
    weft::io::serve(listener,
                    [&](weft::io::Socket socket) {
                      std::byte buffer[4096];
                      std::error_code error;
                      while (size_t count = socket.recv(buffer, error, {.stop = stop.get_token()})) {
                        socket.send(std::span(buffer).first(count), error);
                      }
                    },
                    {.stop = stop.get_token()});
    done.done();
  });
  isListening.wait();
  weft::io::Socket socket = weft::io::Socket::connect(endpoint);
  socket.send(std::as_bytes(std::span("hello")));
  std::byte reply[6];
  EXPECT_EQ(socket.recvAll(reply), 6u);
  stop.request_stop();
  done.wait();
}

TEST_P(IoExamplesTest, AFileIsOpened) {
  const std::filesystem::path before = std::filesystem::current_path();
  const tests::TemporaryFolder folder;
  std::filesystem::current_path(folder.path());
  std::fclose(std::fopen("data", "w"));
  weft::io::File file = weft::io::File::open("data", O_RDONLY);
  EXPECT_TRUE(file);
  std::filesystem::current_path(before);
}

TEST_P(IoExamplesTest, AProgramIsTalkedTo) {
  const std::string text = "hello";
  std::byte buffer[64];
  // clang-format off
  weft::io::Process cat = weft::io::Process::spawn(
      {.arguments = {"cat"}, .in = weft::io::Redirect::pipe(), .out = weft::io::Redirect::pipe()});
  weft::io::writeAll(cat.input().get(), std::as_bytes(std::span(text)));
  cat.closeInput();
  const size_t count = weft::io::readAll(cat.output().get(), buffer);
  const bool isGood = cat.wait().isSuccess();
  // clang-format on
  EXPECT_EQ(tests::textOf(std::span(buffer).first(count)), text);
  EXPECT_TRUE(isGood);
}

TEST_P(IoExamplesTest, AProgramIsRun) {
  // clang-format off
  const weft::io::Command quiet{.arguments = {"make"}, .out = weft::io::Redirect::null()};
  const weft::io::Command sort{.arguments = {"sort", "-n"}, .environment = {{"LC_ALL=C"}}};
  const weft::io::Output sorted = weft::io::run({.arguments = {"sort"}}, "pear\nfig\n");
  // clang-format on
  EXPECT_EQ(quiet.out.kind, weft::io::Redirect::Kind::Null);
  EXPECT_EQ(weft::io::run(sort, "10\n9\n").out, "9\n10\n");
  EXPECT_EQ(sorted.out, "fig\npear\n");
}

TEST_P(IoExamplesTest, AHandlerOfASignalWritesToAnEventfd) {
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGHUP, nullptr, &before), 0);
  awaitHangUp();
  EXPECT_EQ(sigaction(SIGHUP, &before, nullptr), 0);
}

WEFT_INSTANTIATE_WITH_SCHEDULER(IoExamplesTest);

}  // namespace
}  // namespace weft
