// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A server sends back each message of 64 bytes, over connections of the loopback device. What does a request
// cost, and how long does it take? One generator (generator.cpp) is the client of all servers. Each
// connection has one message on its way at a time. The server runs on the first processor, the generator on
// the last one, but for stalls.
//
//   connections-N       N connections that last
//   churn               64 connections at a time, each closed after one message
//   open-64             64 connections, 20,000 messages a second in all, each at its time however long the
//                       replies take; times count from when a message is due
//   stalls              64 connections; every hundredth message keeps the thread that answers it busy for a
//                       millisecond; the times are those of the others. Two workers and the generator, which
//                       sleeps where nothing has come, run on any processor.
//
//   ns_per_request      time by the number of replies in it
//   requests_per_s      the same, the other way round
//   p50_us p99_us p999_us    from the send until the reply
//   cpu_ns              processor time of the server's process for a request
//   busy_percent        how much of its processor the server takes: near 100, it is what limits the rate

#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "../common/client.h"

namespace echo {

inline constexpr size_t kMessageBytes = 64;
inline constexpr size_t kStallByte = 8;  // of a message: not 0 where the server is to be busy

// For servers of stalls, with each message.
inline bool asksToStall(const char* message) { return message[kStallByte] != 0; }
inline void stall() {
  const double end = bench::threadCpuSeconds() + 1e-3;
  while (bench::threadCpuSeconds() < end) {
  }
}

inline void setNoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// The port that a listening socket has got.
inline uint16_t portOf(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  bench::check(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
  return ntohs(address.sin_port);
}

inline int connectionsOf(const bench::Run& run) {
  const std::string& name = run.workload();
  const size_t number = name.find('-');
  const int count = number == std::string::npos ? 64 : std::atoi(name.c_str() + number + 1);
  return run.tiny() ? std::min(count, 64) : count;
}

// Raises the limit of open files for `count` connections. Returns: whether it may be that high.
inline bool allowConnections(int count) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto needed = static_cast<rlim_t>(count) + 100;
  if (limit.rlim_cur < needed && limit.rlim_max >= needed) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur >= needed;
}

// Has the generator talk to the server of this process. The calling thread blocks meanwhile. When it returns,
// the generator has closed its connections.
inline void measure(bench::Run& run, uint16_t port) {
  const std::string& workload = run.workload();
  bench::measureByClient(
      run, "bench_echo_generator",
      {std::to_string(port), std::to_string(connectionsOf(run)), workload.substr(0, workload.find('-')),
       std::to_string(run.size(3000, 30)), std::to_string(getpid())});
}

// What runMain() runs: `run` with each number of connections.
inline std::vector<bench::Workload> workloads(void (*run)(bench::Run&)) {
  return {{"connections-1", {1}, run},    {"connections-64", {1}, run},    {"connections-256", {1}, run},
          {"connections-1024", {1}, run}, {"connections-10000", {1}, run}, {"churn", {1}, run},
          {"open-64", {1}, run}};
}

// The same, for a server that stalls where it is asked to, and may have two workers.
inline std::vector<bench::Workload> workloadsAndStalls(void (*run)(bench::Run&)) {
  std::vector<bench::Workload> all = workloads(run);
  all.push_back({"stalls", {2}, run});
  return all;
}

}  // namespace echo
