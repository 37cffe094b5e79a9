// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Puts load on kv_server: kv_load [PORT [CONNECTIONS [REQUESTS]]]. Each connection is a plain loop on its own
// fiber, which sets values, reads them back and checks them, one request at a time. Prints how many replies
// were right, and to stderr how long they took. No reply for ten seconds is an error.

#include <weft/io.h>
#include <weft/weft.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

// What a connection has seen.
struct Result {
  int numRight = 0;
  int numWrong = 0;
  std::vector<Microseconds> latencies;
};

class Client {
 public:
  explicit Client(const weft::io::Endpoint& server) : socket_(weft::io::Socket::connect(server, limit())) {
    socket_.setNoDelay();
  }

  // Returns: the line that the server replies, without its end.
  std::string request(std::string_view line) {
    socket_.send(std::as_bytes(std::span(line)), limit());
    std::string reply;
    while (!reply.ends_with('\n')) {
      std::byte buffer[512];
      const size_t count = socket_.recv(buffer, limit());
      if (count == 0) {
        throw std::runtime_error("the server has closed the connection");
      }
      reply.append(reinterpret_cast<const char*>(buffer), count);
    }
    reply.pop_back();
    return reply;
  }

 private:
  static weft::io::Wait limit() { return {.deadline = Clock::now() + std::chrono::seconds(10)}; }

  weft::io::Socket socket_;
};

// Makes `numRequests` requests: each other one reads what the one before it has set.
Result run(const weft::io::Endpoint& server, int connection, int numRequests) {
  Client client(server);
  Result result;
  for (int i = 0; i < numRequests; ++i) {
    const std::string key = "key" + std::to_string(connection) + "." + std::to_string(i / 2 % 100);
    const std::string value = std::to_string(i / 2);
    const bool isSet = i % 2 == 0;
    const auto begin = Clock::now();
    const std::string reply = client.request(isSet ? "SET " + key + " " + value + "\n" : "GET " + key + "\n");
    result.latencies.push_back(Clock::now() - begin);
    ++(reply == (isSet ? "OK" : "VALUE " + value) ? result.numRight : result.numWrong);
  }
  return result;
}

void print(Result& total, int numFailed, double seconds) {
  std::vector<Microseconds>& latencies = total.latencies;
  std::sort(latencies.begin(), latencies.end());
  if (!latencies.empty()) {
    std::fprintf(stderr, "%.0f requests/s, half of them within %.0f us, 99 %% within %.0f us\n",
                 static_cast<double>(latencies.size()) / seconds, latencies[latencies.size() / 2].count(),
                 latencies[latencies.size() * 99 / 100].count());
  }
  std::printf("%d right, %d wrong, %d connections failed\n", total.numRight, total.numWrong, numFailed);
}

}  // namespace

int main(int argc, char** argv) {
  const auto port = static_cast<uint16_t>(argc > 1 ? std::atoi(argv[1]) : 7779);
  const int numConnections = argc > 2 ? std::atoi(argv[2]) : 50;
  const int numRequests = argc > 3 ? std::atoi(argv[3]) : 200;
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  const auto server = weft::io::Endpoint::parse("127.0.0.1", port);
  const auto begin = Clock::now();
  std::vector<weft::Future<Result>> results;
  for (int i = 0; i < numConnections; ++i) {
    results.push_back(weft::async([=] { return run(server, i, numRequests); }));
  }
  Result total;
  int numFailed = 0;
  for (weft::Future<Result>& future : results) {
    try {
      const Result result = future.get();
      total.numRight += result.numRight;
      total.numWrong += result.numWrong;
      total.latencies.insert(total.latencies.end(), result.latencies.begin(), result.latencies.end());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "kv_load: a connection failed: %s\n", error.what());
      ++numFailed;
    }
  }
  print(total, numFailed, std::chrono::duration<double>(Clock::now() - begin).count());
  return total.numWrong == 0 && numFailed == 0 ? 0 : 1;
}
