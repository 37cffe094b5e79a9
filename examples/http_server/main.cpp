// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Serves the files of a folder by HTTP/1.1: http_server FOLDER [PORT [PATIENCE_MS]]. Each connection is a
// plain loop on its own fiber. SIGTERM and Ctrl-C end the server once the requests that have begun are
// answered; the second one ends it at once. A client that keeps the server waiting for longer than the
// patience is sent away.

#include <weft/io.h>
#include <weft/weft.h>

#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <utility>

#include "reply.h"
#include "request.h"

namespace {

struct Options {
  std::string folder;
  uint16_t port = 8080;
  std::chrono::milliseconds patience{10'000};
};

// Closed with bytes that were not read, a connection would be reset, and the client might lose the reply.
void closeGently(weft::io::Socket& socket, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::error_code error;
  socket.shutdownSend(error);
  std::byte discarded[4096];
  while (std::chrono::steady_clock::now() < deadline &&
         socket.recv(discarded, error, {.deadline = deadline}) > 0) {
  }
}

Reply replyTo(Arrival arrival, const Request& request, const Options& options) {
  switch (arrival) {
    case Arrival::Complete:
      return replyTo(request, options.folder);
    case Arrival::TimedOut:
      return makeReply(HTTP_STATUS_REQUEST_TIMEOUT);
    case Arrival::TooLarge:
      return makeReply(HTTP_STATUS_REQUEST_HEADER_FIELDS_TOO_LARGE);
    case Arrival::OfAnotherVersion:
      return makeReply(HTTP_STATUS_HTTP_VERSION_NOT_SUPPORTED);
    default:
      return makeReply(HTTP_STATUS_BAD_REQUEST);
  }
}

void handle(weft::io::Socket socket, const Options& options, const std::stop_token& stop) {
  socket.setNoDelay();
  RequestReader requests(socket, options.patience, stop);
  Request request;
  for (;;) {
    const Arrival arrival = requests.next(request);
    if (arrival == Arrival::Ended) {
      return;
    }
    const Reply reply = replyTo(arrival, request, options);
    const bool isLast =
        arrival != Arrival::Complete || !request.isKeptAlive || request.hasBody || stop.stop_requested();
    const bool hasBody = arrival != Arrival::Complete || request.method != HTTP_HEAD;
    // With HTTP/1.0 a client that is not told so waits for the end of the connection.
    const char* const connection = isLast               ? "Connection: close\r\n"
                                   : request.minor == 0 ? "Connection: keep-alive\r\n"
                                                        : "";
    if (!sendReply(socket, reply, hasBody, connection, options.patience)) {
      return;
    }
    if (isLast) {
      closeGently(socket, options.patience);
      return;
    }
  }
}

// Each connection takes a descriptor, and most systems grant 1,024 to those who do not ask for more.
void allowManyDescriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

// Without io_uring, each file that is opened, or must come from a disk, takes a thread meanwhile.
constexpr unsigned kMaxFileThreads = 32;

int run(const Options& options) {
  weft::io::Signals signals({SIGINT, SIGTERM});  // before there are further threads
  allowManyDescriptors();
  weft::BlockingThreads::setMaxCount(kMaxFileThreads);
  http_parser_set_max_header_size(kMaxHeaderBytes);
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  std::error_code error;
  const auto at = weft::io::Endpoint::parse("127.0.0.1", options.port);
  auto listener = weft::io::Listener::listen(at, 1024, error);
  if (error) {
    std::fprintf(stderr, "cannot listen on port %d: %s\n", options.port, error.message().c_str());
    return 1;
  }
  std::printf("listening on %s\n", listener.endpoint().toString().c_str());
  std::fflush(stdout);

  std::stop_source stop;
  std::stop_source over;
  std::error_code ofWatch;
  weft::WaitGroup watching(1);
  weft::schedule([&, watching] {
    signals.next(ofWatch, {.stop = over.get_token()});
    stop.request_stop();  // also where nobody could end the server any more
    if (!ofWatch) {
      ::shutdown(listener.fd(), SHUT_RDWR);  // clients that come now are refused, and may go elsewhere
      std::error_code ofSecond;
      signals.next(ofSecond, {.stop = over.get_token()});
      if (!ofSecond) {
        weft::io::cancelAll(scheduler);
      }
    }
    watching.done();
  });
  const auto handler = [&](weft::io::Socket socket) { handle(std::move(socket), options, stop.get_token()); };
  error = weft::io::serve(listener, handler, {.stop = stop.get_token()});
  const bool isStopped = stop.stop_requested();
  over.request_stop();
  watching.wait();
  if (!isStopped || ofWatch) {
    std::fprintf(stderr, "cannot %s: %s\n", isStopped ? "wait for signals" : "accept",
                 (isStopped ? ofWatch : error).message().c_str());
    return 1;
  }
  std::puts("bye");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: %s FOLDER [PORT [PATIENCE_MS]]\n", argv[0]);
    return 2;
  }
  Options options{.folder = argv[1]};
  if (argc > 2) {
    options.port = static_cast<uint16_t>(std::atoi(argv[2]));
  }
  if (argc > 3) {
    options.patience = std::chrono::milliseconds(std::atoi(argv[3]));
  }
  return run(options);
}
