// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A server sends back each message of 64 bytes, over connections of the loopback device. What does a request
// cost, and how long does it take? One generator (generator.cpp) is the client of all servers. Each
// connection has one message on its way at a time. The server runs on the first processor, the generator on
// the last one.
//
//   connections-N       N connections that last
//   churn               64 connections at a time, each closed after one message
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
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../common/harness.h"

namespace echo {

inline constexpr size_t kMessageBytes = 64;

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

// The generator lies beside the program, or in the folder above it.
inline std::string generatorPath() {
  char self[4096] = {};
  bench::check(readlink("/proc/self/exe", self, sizeof self - 1) > 0, "readlink");
  std::string folder = self;
  for (int i = 0; i < 2; i++) {
    folder.erase(folder.rfind('/'));
    const std::string path = folder + "/bench_echo_generator";
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  bench::check(false, "bench_echo_generator is built");
  return {};
}

inline int connectionsOf(const bench::Run& run) {
  const std::string& name = run.workload();
  const int count = name == "churn" ? 64 : std::atoi(name.c_str() + name.find('-') + 1);
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
  const std::string command = "'" + generatorPath() + "' " + std::to_string(port) + " " +
                              std::to_string(connectionsOf(run)) + " " +
                              (run.workload() == "churn" ? "churn" : "last") + " " +
                              std::to_string(run.size(3000, 30)) + " " + std::to_string(getpid());
  std::FILE* output = popen(command.c_str(), "r");
  bench::check(output != nullptr, "popen");
  char name[32];
  double value = 0;
  while (std::fscanf(output, "%31s %lf", name, &value) == 2) {
    run.metric(name, value);
  }
  bench::check(pclose(output) == 0, "all messages come back");
}

// What runMain() runs: `run` with each number of connections.
inline std::vector<bench::Workload> workloads(void (*run)(bench::Run&)) {
  return {{"connections-1", {1}, run},    {"connections-64", {1}, run},    {"connections-256", {1}, run},
          {"connections-1024", {1}, run}, {"connections-10000", {1}, run}, {"churn", {1}, run}};
}

}  // namespace echo
