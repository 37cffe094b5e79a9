// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A fiber for each connection, by weft::io. What keeps a thread busy is a task of its own.

#include <weft/future.h>
#include <weft/io.h>

#include <stop_token>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void sendBack(weft::io::Socket socket) {
  socket.setNoDelay();
  std::byte buffer[4096];
  std::error_code error;
  while (const size_t count = socket.recv(buffer, error)) {
    if (const auto* message = reinterpret_cast<const char*>(buffer); echo::asksToStall(message)) {
      weft::async([] { echo::stall(); }).get();
    }
    socket.send(std::span(buffer).first(count), error);
  }
}

void run(bench::Run& r) {
  if (!echo::allowConnections(echo::connectionsOf(r))) {
    return r.skip("may not open that many files");
  }
  bench::Bound bound(r.workers());
  auto listener = weft::io::Listener::listen(weft::io::Endpoint::parse("127.0.0.1", 0));
  std::stop_source stop;
  weft::WaitGroup served(1);
  weft::schedule([&, served] {
    weft::io::serve(listener, sendBack, {.stop = stop.get_token()});
    served.done();
  });
  echo::measure(r, listener.endpoint().port());
  stop.request_stop();
  served.wait();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "echo", "weft", echo::workloadsAndStalls(run));
}
