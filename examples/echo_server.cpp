// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sends back what each client sends: echo_server [port]. Each connection is a plain loop on its own fiber.
// A connection that is silent for a minute is closed. Ctrl-C ends all of them, and then the program.

#include <weft/io.h>
#include <weft/weft.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <utility>

namespace {

void echo(weft::io::Socket socket, const std::stop_token& stop) {
  socket.setNoDelay();
  std::byte buffer[4096];
  std::error_code error;
  while (!error) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const size_t count = socket.recv(buffer, error, {.deadline = deadline, .stop = stop});
    if (count == 0) {
      break;
    }
    socket.send(std::span(buffer).first(count), error, {.deadline = deadline, .stop = stop});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto port = static_cast<uint16_t>(argc > 1 ? std::atoi(argv[1]) : 7777);
  weft::io::Signals interrupts({SIGINT, SIGTERM});  // before there are further threads
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  std::error_code error;
  auto listener = weft::io::Listener::listen(weft::io::Endpoint::parse("127.0.0.1", port), 1024, error);
  if (error) {
    std::fprintf(stderr, "cannot listen on port %d: %s\n", port, error.message().c_str());
    return 1;
  }
  std::printf("listening on %s\n", listener.endpoint().toString().c_str());
  std::fflush(stdout);

  std::stop_source stop;
  weft::WaitGroup watched(1);
  std::error_code ofWatch;
  weft::schedule([&, watched] {
    interrupts.next(ofWatch, {.stop = stop.get_token()});
    stop.request_stop();
    watched.done();
  });
  error =
      weft::io::serve(listener, [&](weft::io::Socket socket) { echo(std::move(socket), stop.get_token()); },
                      {.stop = stop.get_token()});
  const bool isStopped = !stop.request_stop();
  watched.wait();  // what it refers to is about to be destroyed
  if (!isStopped || ofWatch) {
    std::fprintf(stderr, "cannot %s: %s\n", isStopped ? "wait for signals" : "accept",
                 (isStopped ? ofWatch : error).message().c_str());
    return 1;
  }
  std::puts("bye");
}
