// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A server and a client, each with one thread: every request over one of the connections is answered with a
// fixed response before the next one: io_socket_st [connections] [requests]

#include <weft/io.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "common.h"

static constexpr std::string_view kRequest =
    "HEAD / HTTP/1.1\r\nHost: host:port\r\nConnection: close\r\n\r\n";
static constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\nContent-Length: 12\nContent-Type: text/plain; charset=utf-8\n\nHello World!";

static std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

// Receives as many bytes as `expected` has. Returns: whether they are these.
static bool receives(weft::io::Socket& socket, std::string_view expected) {
  std::byte buffer[4096];
  size_t size = 0;
  while (size < expected.size()) {
    const size_t more = socket.recv(std::span(buffer).subspan(size));
    if (more == 0) {
      return false;
    }
    size += more;
  }
  return size == expected.size() && std::equal(buffer, buffer + size, bytesOf(expected).begin());
}

// Returns: how many requests were answered until the clients have closed all connections.
static size_t serve(weft::io::Listener& listener, size_t connections) {
  std::vector<size_t> answered(connections);
  weft::TaskGroup handlers;
  for (size_t& mine : answered) {
    handlers.run([socket = listener.accept(), &mine]() mutable {
      while (receives(socket, kRequest)) {
        socket.send(bytesOf(kResponse));
        mine++;
      }
    });
  }
  handlers.wait();
  return std::accumulate(answered.begin(), answered.end(), size_t{0});
}

// Returns: how many of its requests got the response.
static size_t ask(const weft::io::Endpoint& server, size_t requests) {
  auto socket = weft::io::Socket::connect(server);
  size_t answered = 0;
  for (; answered < requests; answered++) {
    socket.send(bytesOf(kRequest));
    if (!receives(socket, kResponse)) {
      break;
    }
  }
  return answered;
}

static size_t askAll(const weft::io::Endpoint& server, size_t connections, size_t requests) {
  std::vector<size_t> answered(connections);
  weft::TaskGroup clients;
  for (size_t i = 0; i < connections; i++) {
    const size_t share = requests * (i + 1) / connections - requests * i / connections;
    clients.run([&, i, share] { answered[i] = ask(server, share); });
  }
  clients.wait();
  return std::accumulate(answered.begin(), answered.end(), size_t{0});
}

int main(int argc, char** argv) {
  const size_t connections = ranking::argument(argc, argv, 1, 20);
  const size_t requests = ranking::argument(argc, argv, 2, 100000);
  ranking::Runtime server(1), client(1);
  auto listener = weft::io::Listener::listen(weft::io::Endpoint::parse("127.0.0.1", 0));
  const weft::io::Endpoint endpoint = listener.endpoint();
  auto served = server.start([&] { return serve(listener, connections); });
  size_t answered = 0;
  const size_t us = ranking::microsecondsOf([&] {
    answered = client.run([&] { return askAll(endpoint, connections, requests); });
    served.wait();
  });
  ranking::check("io_socket_st: responses", answered, requests);
  ranking::check("io_socket_st: requests", served.get(), requests);
  std::printf("connections: %zu\n", connections);
  ranking::reportRate(us, "requests", requests);
}
