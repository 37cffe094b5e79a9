// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>
#include <weft/weft.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

// Sends back what comes, until the other end closes.
void echo(weft::io::Socket socket) {
  std::byte buffer[256];
  std::error_code error;
  while (const size_t count = socket.recv(buffer, error)) {  // suspends while there is nothing
    socket.send(std::span(buffer).first(count), error);
  }
}

std::string ask(const weft::io::Endpoint& server, const std::string& text) {
  weft::io::Socket socket = weft::io::Socket::connect(server);
  socket.send(std::as_bytes(std::span(text)));
  std::string reply(text.size(), ' ');
  socket.recvAll(std::as_writable_bytes(std::span(reply)));
  return reply;
}

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  // Port 0: the system chooses one, and listener.endpoint() tells which.
  auto listener = weft::io::Listener::listen(weft::io::Endpoint::parse("127.0.0.1", 0));
  std::stop_source stop;
  weft::Future<std::error_code> server =
      weft::async([&] { return weft::io::serve(listener, echo, {.stop = stop.get_token()}); });

  std::vector<weft::Future<std::string>> replies;
  for (const char* text : {"one", "two", "three"}) {
    replies.push_back(weft::async([&listener, text] { return ask(listener.endpoint(), text); }));
  }
  for (weft::Future<std::string>& reply : replies) {
    std::printf("the server replies: %s\n", reply.get().c_str());
  }
  stop.request_stop();
  std::puts(server.get() == std::errc::operation_canceled ? "the server was stopped" : "the server failed");
}
